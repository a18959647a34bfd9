#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/alternative.h>
#include <avahi-common/domain.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/strlst.h>
#include <avahi-common/thread-watch.h>
#include <avahi-common/timeval.h>
#include <stddef.h>

/*
 * The functions of libavahi-client.
 *
 * libavahi-client and libavahi-core both export `avahi_entry_group_free`, with different parameters. If a program offered
 * the one to the other, it would answer that library's calls too, and the process would abort or crash. So this one is
 * linked statically and offers nothing to others, and libavahi-core is opened with RTLD_LOCAL.
 */

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
#include <dlfcn.h>
#include <stddef.h>

/*
 * The functions of libavahi-client, looked up in a library that was opened with RTLD_LOCAL, instead of linked.
 *
 * libavahi-client and libavahi-core both export `avahi_entry_group_free`, with different parameters. Linked into one
 * program, the one that comes first answers the other library's calls too, and the process aborts or crashes. Opened
 * locally, each library finds its own. A program that starts without D-Bus and its libraries also starts faster.
 */
#define AVAHI_CLIENT_FUNCTIONS(F) \
    F(avahi_client_new) \
    F(avahi_client_free) \
    F(avahi_client_errno) \
    F(avahi_service_browser_new) \
    F(avahi_service_browser_get_client) \
    F(avahi_service_resolver_new) \
    F(avahi_service_resolver_free) \
    F(avahi_entry_group_new) \
    F(avahi_entry_group_free) \
    F(avahi_entry_group_reset) \
    F(avahi_entry_group_commit) \
    F(avahi_entry_group_get_client) \
    F(avahi_entry_group_add_service_strlst)

#define AVAHI_DECLARE(name) __typeof__(&name) _Nonnull name;
typedef struct AvahiClientFunctions {
    AVAHI_CLIENT_FUNCTIONS(AVAHI_DECLARE)
} AvahiClientFunctions;
#undef AVAHI_DECLARE

/* Fills the table. Returns the name of the first function that the library lacks, or NULL: the table is complete. */
static inline const char *_Nullable avahi_client_functions_load(
    AvahiClientFunctions *_Nonnull table, void *_Nonnull library)
{
#define AVAHI_LOAD(name) \
    { \
        void *address = dlsym(library, #name); \
        if (address == NULL) return #name; \
        table->name = (__typeof__(&name))address; \
    }
    AVAHI_CLIENT_FUNCTIONS(AVAHI_LOAD)
#undef AVAHI_LOAD
    return NULL;
}

#include <avahi-core/core.h>
#include <avahi-core/log.h>
#include <avahi-core/lookup.h>
#include <avahi-core/publish.h>
#include <dlfcn.h>
#include <stddef.h>

/*
 * The functions of libavahi-core, looked up instead of linked: it and libavahi-client, which is linked, both export
 * `avahi_entry_group_free`, with different parameters. It is opened so that each calls its own (RTLD_LOCAL and
 * RTLD_DEEPBIND); else the process would abort or crash.
 */
#define AVAHI_CORE_FUNCTIONS(F) \
    F(avahi_set_log_function) \
    F(avahi_server_config_init) \
    F(avahi_server_config_free) \
    F(avahi_server_new) \
    F(avahi_server_free) \
    F(avahi_server_errno) \
    F(avahi_server_get_host_name) \
    F(avahi_server_set_host_name) \
    F(avahi_s_service_browser_new) \
    F(avahi_s_service_resolver_new) \
    F(avahi_s_service_resolver_free) \
    F(avahi_s_entry_group_new) \
    F(avahi_s_entry_group_free) \
    F(avahi_s_entry_group_reset) \
    F(avahi_s_entry_group_commit) \
    F(avahi_server_add_service_strlst)

#define AVAHI_DECLARE(name) __typeof__(&name) _Nonnull name;
typedef struct AvahiCoreFunctions {
    AVAHI_CORE_FUNCTIONS(AVAHI_DECLARE)
} AvahiCoreFunctions;
#undef AVAHI_DECLARE

/* Fills the table. Returns the name of the first function that the library lacks, or NULL: the table is complete. */
static inline const char *_Nullable avahi_core_functions_load(
    AvahiCoreFunctions *_Nonnull table, void *_Nonnull library)
{
#define AVAHI_LOAD(name) \
    { \
        void *address = dlsym(library, #name); \
        if (address == NULL) return #name; \
        table->name = (__typeof__(&name))address; \
    }
    AVAHI_CORE_FUNCTIONS(AVAHI_LOAD)
#undef AVAHI_LOAD
    return NULL;
}

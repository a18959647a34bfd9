/*
 * libdbus is linked statically: as a shared library it brings seven others, which take a command longer to load than it
 * takes to connect to the bus. Its archive asks libsystemd for sockets that a D-Bus server was started with. Here is no
 * such server, so there are none.
 */
#include <errno.h>

#include "DBusWithoutSystemd.h"

#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN int sd_listen_fds(int unset_environment) {
    (void)unset_environment;
    return 0;
}
HIDDEN int sd_is_socket(int descriptor, int family, int type, int listening) {
    (void)descriptor; (void)family; (void)type; (void)listening;
    return -ENOSYS;
}

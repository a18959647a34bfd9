/*
 * zbar can announce what it has read on the system's D-Bus. Here that must never happen: what is read are secrets. So the
 * functions of libdbus that zbar's archive refers to are these, which never connect, and libdbus with the eight libraries
 * behind it is not loaded at every start.
 *
 * They are hidden: libavahi-client, which is opened later, finds the real ones.
 */
#include <stddef.h>

#include "ZBarWithoutDBus.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* zbar hands over a DBusError of its own and asks `dbus_error_is_set` before it looks into it. */
HIDDEN void dbus_error_init(void *error) { (void)error; }
HIDDEN void dbus_error_free(void *error) { (void)error; }
HIDDEN unsigned dbus_error_is_set(const void *error) { (void)error; return 0; }

/* No connection: zbar gives up here. What follows is referred to and never called. */
HIDDEN void *dbus_bus_get(int type, void *error) { (void)type; (void)error; return NULL; }
HIDDEN int dbus_bus_request_name(void *bus, const char *name, unsigned flags, void *error) {
    (void)bus; (void)name; (void)flags; (void)error;
    return -1;
}
HIDDEN int dbus_bus_release_name(void *bus, const char *name, void *error) {
    (void)bus; (void)name; (void)error;
    return -1;
}
HIDDEN void dbus_connection_flush(void *bus) { (void)bus; }
HIDDEN unsigned dbus_connection_send(void *bus, void *message, unsigned *serial) {
    (void)bus; (void)message; (void)serial;
    return 0;
}
HIDDEN void *dbus_message_new_signal(const char *path, const char *interface, const char *name) {
    (void)path; (void)interface; (void)name;
    return NULL;
}
HIDDEN void dbus_message_unref(void *message) { (void)message; }
HIDDEN void dbus_message_iter_init_append(void *message, void *iterator) { (void)message; (void)iterator; }
HIDDEN unsigned dbus_message_iter_append_basic(void *iterator, int type, const void *value) {
    (void)iterator; (void)type; (void)value;
    return 0;
}
HIDDEN unsigned dbus_message_iter_append_fixed_array(void *iterator, int type, const void *value, int count) {
    (void)iterator; (void)type; (void)value; (void)count;
    return 0;
}
HIDDEN unsigned dbus_message_iter_open_container(void *iterator, int type, const char *signature, void *sub) {
    (void)iterator; (void)type; (void)signature; (void)sub;
    return 0;
}
HIDDEN unsigned dbus_message_iter_close_container(void *iterator, void *sub) { (void)iterator; (void)sub; return 0; }

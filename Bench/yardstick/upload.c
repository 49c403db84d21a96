/* The yardstick of a whole update over SMP: uploads an image over the same acquired sockets, in frames of the same
 * size, one at a time, with libdbus and plain system calls.
 *
 *     upload ADDRESS IMAGE FRAME     prints the seconds of processor time of the upload
 */
#include <dbus/dbus.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHARACTERISTIC "org.bluez.GattCharacteristic1"
#define SMP "da2e7828-fbce-4e01-ae9e-261174997c48"

static DBusConnection *bus;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "upload: %s: %s\n", what, why);
    exit(1);
}

static DBusMessage *ask(const char *path, const char *interface, const char *member, int options) {
    DBusMessage *message = dbus_message_new_method_call("org.bluez", path, interface, member);
    DBusMessageIter arguments, array;
    DBusError error = DBUS_ERROR_INIT;
    dbus_message_iter_init_append(message, &arguments);
    if (options) {
        dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &array);
        dbus_message_iter_close_container(&arguments, &array);
    }
    DBusMessage *reply =
        dbus_connection_send_with_reply_and_block(bus, message, 40000, &error);
    if (!reply) fail(member, error.message);
    dbus_message_unref(message);
    return reply;
}

static int acquire(const char *path, const char *member) {
    DBusMessage *reply = ask(path, CHARACTERISTIC, member, 1);
    int descriptor = -1;
    DBusMessageIter values;
    if (dbus_message_iter_init(reply, &values)
        && dbus_message_iter_get_arg_type(&values) == DBUS_TYPE_UNIX_FD)
        dbus_message_iter_get_basic(&values, &descriptor);
    dbus_message_unref(reply);
    if (descriptor < 0) fail(member, "no socket");
    return descriptor;
}

/* The path of the first object with this interface, and this UUID where it is not NULL; NULL: none. */
static char *find(const char *wanted, const char *uuid) {
    DBusMessage *reply = ask("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", 0);
    DBusMessageIter top, objects, object, interfaces, interface, properties, property, value;
    char *found = NULL;
    dbus_message_iter_init(reply, &top);
    for (dbus_message_iter_recurse(&top, &objects);
         dbus_message_iter_get_arg_type(&objects) == DBUS_TYPE_DICT_ENTRY;
         dbus_message_iter_next(&objects)) {
        const char *path, *name;
        dbus_message_iter_recurse(&objects, &object);
        dbus_message_iter_get_basic(&object, &path);
        dbus_message_iter_next(&object);
        for (dbus_message_iter_recurse(&object, &interfaces);
             dbus_message_iter_get_arg_type(&interfaces) == DBUS_TYPE_DICT_ENTRY;
             dbus_message_iter_next(&interfaces)) {
            dbus_message_iter_recurse(&interfaces, &interface);
            dbus_message_iter_get_basic(&interface, &name);
            if (strcmp(name, wanted)) continue;
            if (!uuid && !found) found = strdup(path);
            dbus_message_iter_next(&interface);
            for (dbus_message_iter_recurse(&interface, &properties);
                 uuid && dbus_message_iter_get_arg_type(&properties) == DBUS_TYPE_DICT_ENTRY;
                 dbus_message_iter_next(&properties)) {
                const char *key, *text;
                dbus_message_iter_recurse(&properties, &property);
                dbus_message_iter_get_basic(&property, &key);
                dbus_message_iter_next(&property);
                if (strcmp(key, "UUID")) continue;
                dbus_message_iter_recurse(&property, &value);
                dbus_message_iter_get_basic(&value, &text);
                if (!strcmp(text, uuid) && !found) found = strdup(path);
            }
        }
    }
    dbus_message_unref(reply);
    return found;
}

static char *await(const char *interface, const char *uuid) {
    for (int times = 0; times < 200; times++) {
        char *path = find(interface, uuid);
        if (path) return path;
        usleep(100000);
    }
    fail("wait", interface);
    return NULL;
}

static double spent(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_utime.tv_sec + use.ru_utime.tv_usec / 1e6 + use.ru_stime.tv_sec + use.ru_stime.tv_usec / 1e6;
}

/* CBOR: the head of a value of the major type. */
static uint8_t *put(uint8_t *at, int major, uint32_t number) {
    if (number < 24) { *at++ = major << 5 | number; return at; }
    if (number < 256) { *at++ = major << 5 | 24; *at++ = number; return at; }
    if (number < 65536) { *at++ = major << 5 | 25; *at++ = number >> 8; *at++ = number; return at; }
    *at++ = major << 5 | 26;
    for (int shift = 24; shift >= 0; shift -= 8) *at++ = number >> shift;
    return at;
}
static uint8_t *text(uint8_t *at, const char *words) {
    at = put(at, 3, strlen(words));
    memcpy(at, words, strlen(words));
    return at + strlen(words);
}

static uint32_t offset_in(const uint8_t *answer, size_t length) {
    for (size_t at = 8; at + 5 < length; at++) {
        if (memcmp(answer + at, "\x63off", 4)) continue;
        uint8_t head = answer[at + 4];
        if (head < 24) return head;
        int bytes = head == 24 ? 1 : head == 25 ? 2 : head == 26 ? 4 : 0;
        uint32_t number = 0;
        for (int index = 0; index < bytes; index++) number = number << 8 | answer[at + 5 + index];
        if (bytes) return number;
    }
    fail("answer", "no offset");
    return 0;
}

int main(int count, char **words) {
    DBusError error = DBUS_ERROR_INIT;
    if (count != 4) fail("usage", "upload ADDRESS IMAGE FRAME");
    size_t most = atol(words[3]);
    FILE *file = fopen(words[2], "rb");
    if (!file) fail("image", words[2]);
    static uint8_t image[16 << 20];
    uint32_t size = fread(image, 1, sizeof image, file), offset = 0;
    bus = dbus_connection_open_private(words[1], &error);
    if (!bus || !dbus_bus_register(bus, &error)) fail("bus", error.message);
    dbus_message_unref(ask("/org/bluez/hci0", "org.bluez.Adapter1", "StartDiscovery", 0));
    char *device = await("org.bluez.Device1", NULL);
    dbus_message_unref(ask(device, "org.bluez.Device1", "Connect", 0));
    char *place = await(CHARACTERISTIC, SMP);
    int in = acquire(place, "AcquireNotify"), out = acquire(place, "AcquireWrite");
    double before = spent();
    uint8_t sequence = 0;
    while (offset < size) {
        uint8_t frame[2048], back[2048], *at = frame + 8;
        size_t rest = size - offset, room = most - 8 - 1 - 4 - 5 - 5 - 3;
        if (offset == 0) room -= 4 + 5 + 4 + 2 + 32;
        if (rest > room) rest = room;
        *at++ = 0xA0 | (offset == 0 ? 4 : 2);
        if (offset == 0) {
            at = put(text(at, "len"), 0, size);
            at = put(text(at, "sha"), 2, 32);
            memset(at, 0xC3, 32);
            at += 32;
        }
        at = put(text(at, "off"), 0, offset);
        at = put(text(at, "data"), 2, rest);
        memcpy(at, image + offset, rest);
        at += rest;
        size_t length = at - frame - 8;
        uint8_t head[8] = {2, 0, length >> 8, length, 0, 1, sequence++, 1};
        memcpy(frame, head, 8);
        if (send(out, frame, length + 8, MSG_NOSIGNAL) != (ssize_t)length + 8) fail("send", "short");
        struct pollfd ready = {.fd = in, .events = POLLIN};
        if (poll(&ready, 1, 60000) != 1) fail("answer", "none in time");
        ssize_t got = recv(in, back, sizeof back, MSG_DONTWAIT);
        if (got < 8) fail("answer", "short");
        offset = offset_in(back, got);
    }
    printf("%.4f\n", spent() - before);
    dbus_message_unref(ask(device, "org.bluez.Device1", "Disconnect", 0));
    return 0;
}

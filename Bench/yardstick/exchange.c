/* The yardstick of `bluez-bench exchanges`: the same frames, one sent and one received at a time, over the
 * same acquired sockets, with libdbus and plain system calls.
 *
 *     exchange ADDRESS COUNT     prints a row of the table
 */
#include <dbus/dbus.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FRAME 384
#define DEVICE "/org/bluez/hci0/dev_C0_00_00_00_00_01"
#define ECHO DEVICE "/service0001/char0002"
#define CHARACTERISTIC "org.bluez.GattCharacteristic1"

static DBusConnection *bus;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "exchange: %s: %s\n", what, why);
    exit(1);
}

/* Makes a call, with empty options where required; returns the descriptor in the answer, or -1. */
static int call(const char *path, const char *interface, const char *member, int options) {
    DBusMessage *message = dbus_message_new_method_call("org.bluez", path, interface, member);
    DBusMessageIter arguments, array, values;
    DBusError error = DBUS_ERROR_INIT;
    int descriptor = -1;
    dbus_message_iter_init_append(message, &arguments);
    if (options) {
        dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "{sv}", &array);
        dbus_message_iter_close_container(&arguments, &array);
    }
    DBusMessage *reply =
        dbus_connection_send_with_reply_and_block(bus, message, 20000, &error);
    if (!reply) fail(member, error.message);
    if (dbus_message_iter_init(reply, &values)
        && dbus_message_iter_get_arg_type(&values) == DBUS_TYPE_UNIX_FD)
        dbus_message_iter_get_basic(&values, &descriptor);
    dbus_message_unref(message);
    dbus_message_unref(reply);
    return descriptor;
}

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

static double spent(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **words) {
    DBusError error = DBUS_ERROR_INIT;
    char frame[FRAME], back[1024];
    if (count != 3) fail("usage", "exchange ADDRESS COUNT");
    long exchanges = atol(words[2]);
    bus = dbus_connection_open_private(words[1], &error);
    if (!bus || !dbus_bus_register(bus, &error)) fail("bus", error.message);
    call("/org/bluez/hci0", "org.bluez.Adapter1", "StartDiscovery", 0);
    sleep(1);
    call(DEVICE, "org.bluez.Device1", "Connect", 0);
    sleep(1);
    int in = call(ECHO, CHARACTERISTIC, "AcquireNotify", 1);
    int out = call(ECHO, CHARACTERISTIC, "AcquireWrite", 1);
    if (in < 0 || out < 0) fail("sockets", "none");
    memset(frame, 0x5A, sizeof frame);
    double began = now(), before = spent();
    for (long number = 0; number < exchanges; number++) {
        struct pollfd ready = {.fd = in, .events = POLLIN};
        if (send(out, frame, sizeof frame, MSG_NOSIGNAL) != sizeof frame) fail("send", "short");
        /* A deadline for each answer, as in every client. */
        if (poll(&ready, 1, 10000) != 1) fail("answer", "none in time");
        if (recv(in, back, sizeof back, MSG_DONTWAIT) != sizeof frame) fail("answer", "short");
    }
    double took = now() - began, cost = spent() - before;
    double size = (double)exchanges * FRAME / 1048576;
    if (exchanges > 0)
        printf("| a C client | %.0f | %.4f |\n", exchanges / took, cost / size);
    call(DEVICE, "org.bluez.Device1", "Disconnect", 0);
    return 0;
}

// Lets a controller of btvirt have several links as a central: loaded into btvirt with LD_PRELOAD.
//
// btvirt tells the peripheral's host the central's handle of a link. It then knows the link only by the
// peripheral's own handle, which is always the first one, and marks the peripheral's data with that. From a
// central's second link on the two differ, and all that the peripheral sends is lost. Here the peripheral's host
// keeps the handle that it was told, and each packet gets the handle that its receiver knows.
//
// btvirt has one thread, and passes each packet on before it reads the next one.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COMMAND = 1, DATA = 2, EVENT = 4, CONTROLLERS = 256, LONGEST = 4096 };

// The handle of a controller's first link.
static const uint16_t first = 0x2a;
// By which handle the host of a controller knows its link as a peripheral; 0: by the first one, or there is none.
static uint16_t told[CONTROLLERS];
// The same for the sender of the data that are being passed on.
static uint16_t sender;

static uint16_t get(const uint8_t *at) { return at[0] | (at[1] & 0x0f) << 8; }

// Puts a handle in the place of another one, and leaves the flags above it.
static void change(uint8_t *at, uint16_t from, uint16_t to) {
    if (get(at) != from) return;
    at[0] = to & 0xff;
    at[1] = (at[1] & 0xf0) | to >> 8;
}

// Where an event has its handle; 0: nowhere.
static size_t place_in_event(const uint8_t *packet) {
    switch (packet[1]) {
    case 0x05: // Disconnection complete.
    case 0x08: // Encryption change.
    case 0x0c: // Version of the other side.
    case 0x13: // Completed packets.
    case 0x30: // Key refresh.
        return 4;
    case 0x0e: // The answer to a command about a link: after its status.
        switch (packet[4] | packet[5] << 8) {
        case 0x0c2d: case 0x0c7b: case 0x0c7c: case 0x1405: case 0x201a: case 0x201b: case 0x2020:
        case 0x2021: case 0x2022: case 0x2030:
            return 7;
        }
        return 0;
    case 0x3e: // Low energy.
        switch (packet[3]) {
        case 0x03: case 0x04: case 0x0c: return 5;
        case 0x05: case 0x06: case 0x07: return 4;
        }
    }
    return 0;
}

static int has_handle(uint16_t command) {
    switch (command) {
    case 0x0406: case 0x041d: case 0x0c2d: case 0x0c7b: case 0x0c7c: case 0x1405: case 0x2013: case 0x2016:
    case 0x201a: case 0x201b: case 0x2020: case 0x2021: case 0x2022: case 0x2030: case 0x2032:
        return 1;
    }
    return 0;
}

// From a host to its controller.
ssize_t read(int file, void *buffer, size_t size) {
    static ssize_t (*next)(int, void *, size_t);
    if (!next) next = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    ssize_t count = next(file, buffer, size);
    uint8_t *packet = buffer;
    sender = 0;
    if (file < 0 || file >= CONTROLLERS || !told[file]) return count;
    if (count >= 5 && packet[0] == DATA && get(packet + 1) == told[file]) {
        sender = told[file];
        change(packet + 1, told[file], first);
    } else if (count >= 6 && packet[0] == COMMAND && has_handle(packet[1] | packet[2] << 8)) {
        change(packet + 4, told[file], first);
    }
    return count;
}

// From a controller to its host.
ssize_t writev(int file, const struct iovec *parts, int count) {
    static ssize_t (*next)(int, const struct iovec *, int);
    if (!next) next = (ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
    uint8_t packet[LONGEST] = {0};
    size_t length = 0;
    for (int part = 0; part < count; part++) {
        if (parts[part].iov_len > LONGEST - length) return next(file, parts, count);
        memcpy(packet + length, parts[part].iov_base, parts[part].iov_len);
        length += parts[part].iov_len;
    }
    if (file < 0 || file >= CONTROLLERS || length < 7) return next(file, parts, count);
    if (packet[0] == DATA && sender) change(packet + 1, first, sender);
    if (packet[0] == EVENT) {
        int is_link = packet[1] == 0x3e && (packet[3] == 0x01 || packet[3] == 0x0a) && packet[4] == 0;
        if (is_link && packet[7] == 1) told[file] = get(packet + 5) == first ? 0 : get(packet + 5);
        size_t place = place_in_event(packet);
        if (told[file] && place && place + 2 <= length) change(packet + place, first, told[file]);
        if (packet[1] == 0x05) told[file] = 0;
    }
    const struct iovec whole = {packet, length};
    return next(file, &whole, 1);
}

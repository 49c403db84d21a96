#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The distribution's libmicrohttpd, loaded into the process only when pages are served.

   Its types are not visible here: a connection is a pointer that only these functions accept. None
   of them may be called before web_load has returned NULL. */

/* Loads the library, once; returns NULL, or the reason for a failure. From any thread. */
const char *web_load(void);

const char *web_loaded_version(void);

/* The callbacks of a server; all are called on its own thread. */
struct web_calls {
    void *context;
    /* The longest body that is accepted. */
    size_t body_bytes;
    /* A request has arrived; target is its address as it was sent. Body is NULL except for a POST
       whose announced length is within the limit. The function must answer immediately with
       web_answer or web_stream, and return its result; 0 ends the connection. */
    int (*requested)(
        void *context, void *connection, const char *method, const char *target, const char *body,
        size_t size
    );
    /* The answer to a request was sent, or its connection was lost. */
    void (*finished)(void *context, int descriptor);
    void (*opened)(void *context, int descriptor);
    /* Called before the descriptor is closed. */
    void (*closed)(void *context, int descriptor);
};

/* Serves the requests at a listening socket, on its own thread; returns NULL when that is not
   possible. `connections` is the most simultaneous connections, `memory` the bytes for the heads of
   a request and of its answer together, `seconds` the longest silence. The calls are copied. */
void *web_begin(
    int listener, unsigned connections, size_t memory, unsigned seconds,
    const struct web_calls *calls
);

/* Ends the thread. Every stream must have been ended before. */
void web_end(void *server);

int web_descriptor(void *connection);
/* The number of headers of this name. */
int web_header_count(void *connection, const char *name);
/* The first header of this name; NULL for none. It is valid as long as the request. */
const char *web_header(void *connection, const char *name);

/* Headers are a list of names, each followed by its value, ended by NULL. Bytes are copied. */
int web_answer(
    void *connection, unsigned status, const char *const *headers, const void *bytes, size_t count
);

/* The source of an answer without a fixed end. */
struct web_source {
    void *context;
    /* Writes at most count bytes; 0 after web_suspend was called, -1 for the end. */
    ssize_t (*read)(void *context, void *connection, char *bytes, size_t count);
    /* Called when no more data is read. */
    void (*release)(void *context);
};

int web_stream(
    void *connection, unsigned status, const char *const *headers, const struct web_source *source
);

/* Called from within read, which is called again after web_resume. Any thread may call
   web_resume. */
void web_suspend(void *connection);
void web_resume(void *connection);

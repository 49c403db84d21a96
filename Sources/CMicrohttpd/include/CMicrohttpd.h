#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The distribution's libmicrohttpd, taken into the process only when pages are served.

   None of its types is seen outside: a connection is a pointer that only these functions take. None
   of them may be called before web_load has returned NULL. */

/* Loads the library, once; NULL when it is there, else why it is not. Any thread. */
const char *web_load(void);

const char *web_loaded_version(void);

/* What a server is asked to do; all is called on its own thread. */
struct web_calls {
    void *context;
    /* The longest body that is taken. */
    size_t body_bytes;
    /* A request is there; target is its address as it was sent. Body is NULL but for a POST whose
       length was said and is short enough. To be answered at once by web_answer or web_stream,
       whose result is returned; 0 ends the connection. */
    int (*requested)(
        void *context, void *connection, const char *method, const char *target, const char *body,
        size_t size
    );
    /* The answer to a request is out, or its connection has broken. */
    void (*finished)(void *context, int descriptor);
    void (*opened)(void *context, int descriptor);
    /* Called before the descriptor is closed. */
    void (*closed)(void *context, int descriptor);
};

/* Serves what comes to a socket that listens, on a thread of its own; NULL when that is not possible.
   No more than so many connections at once, with so many bytes for a request's head and an answer's
   together, and no silence longer than so many seconds. The calls are copied. */
void *web_begin(
    int listener, unsigned connections, size_t memory, unsigned seconds,
    const struct web_calls *calls
);

/* Ends the thread. Every stream must have been ended before. */
void web_end(void *server);

int web_descriptor(void *connection);
/* How many headers of this name there are. */
int web_header_count(void *connection, const char *name);
/* The first of them; NULL for none. It lives as long as the request. */
const char *web_header(void *connection, const char *name);

/* Headers are a list of names, each with its value after it, that ends with NULL. Bytes are copied. */
int web_answer(
    void *connection, unsigned status, const char *const *headers, const void *bytes, size_t count
);

/* What an answer without an end is made from. */
struct web_source {
    void *context;
    /* Writes at most count bytes; 0 after web_suspend was called, -1 for the end. */
    ssize_t (*read)(void *context, void *connection, char *bytes, size_t count);
    /* Nothing is read any more. */
    void (*release)(void *context);
};

int web_stream(
    void *connection, unsigned status, const char *const *headers, const struct web_source *source
);

/* From within read: it is called again after web_resume, which any thread may call. */
void web_suspend(void *connection);
void web_resume(void *connection);

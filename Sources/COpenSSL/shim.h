#pragma once
#if !__has_include(<openssl/bio.h>)
#error "OpenSSL is missing: scripts/setup installs all that is needed, or apt-get install libssl-dev"
#endif
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>

#pragma once
#if !__has_include(<zlib.h>)
#error "zlib is missing: scripts/setup installs all that is needed, or apt-get install zlib1g-dev"
#endif
#include <zlib.h>

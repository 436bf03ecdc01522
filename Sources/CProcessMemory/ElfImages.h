// The loaded images and their files. Private to this module.
#ifndef TETHER_ELF_IMAGES_H
#define TETHER_ELF_IMAGES_H

#include "CProcessMemory.h"

struct image;

// A section of an image's file, copied.
struct section {
    const char *bytes;
    size_t size;
};

// The symbol table, ordered by address.
struct symbol {
    uint64_t address;
    uint32_t size;
    // The place of the name in the table of names.
    uint32_t name;
};

// The image around an address, or null. Not thread-safe.
struct image *find_image(uintptr_t address);
// The address as in the image's file.
uintptr_t address_in_file(const struct image *image, uintptr_t address);
const char *path_of(const struct image *image);
const struct symbol *symbols_of(struct image *image, size_t *count);
const char *name_of(const struct image *image, const struct symbol *symbol);
// The table of lines, read at the first use; empty without one.
struct section lines_of(struct image *image);

#endif

#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "ElfImages.h"

#include <string.h>

#if defined(__linux__) && UINTPTR_MAX > UINT32_MAX
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The symbols of the loaded images, from the tables in their files (elf(5)). The table of all
// symbols is taken, or, in a stripped file, that of the exported ones.
//
// The check of itself: the header in the file is that in memory. A file that was replaced while the
// process runs has no symbols.
//
// The tables are copied into read-only memory: a mapped file that shrinks would end the process,
// and only writable memory is searched for holders.

struct image {
    uintptr_t base, start, end;
    char path[1024];
    Elf64_Ehdr header;
    Elf64_Shdr *sections;
    struct section section_names, names, lines;
    struct symbol *symbols;
    size_t symbol_count;
    int has_read_lines;
};

enum { max_images = 256 };
static struct image *images[max_images];
static size_t image_count;

static int open_file(const struct image *image) {
    return open(image->path, O_RDONLY | O_CLOEXEC);
}

// Copies a part of a file into read-only memory of its own.
static struct section copy(int file, uint64_t offset, uint64_t size) {
    struct section none = {NULL, 0};
    struct stat status;
    if (fstat(file, &status) != 0 || !size) return none;
    uint64_t file_size = (uint64_t)status.st_size;
    if (offset > file_size || size > file_size - offset) return none;
    char *bytes = mmap(
        NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return none;
    size_t done = 0;
    while (done < size) {
        ssize_t more = pread(file, bytes + done, size - done, (off_t)(offset + done));
        if (more <= 0) {
            munmap(bytes, size);
            return none;
        }
        done += (size_t)more;
    }
    mprotect(bytes, size, PROT_READ);
    return (struct section){bytes, size};
}

static const Elf64_Shdr *find_section(
    const struct image *image, uint32_t type, const char *name) {
    for (unsigned i = 0; i < image->header.e_shnum; i++) {
        const Elf64_Shdr *section = &image->sections[i];
        if (section->sh_flags & SHF_COMPRESSED) continue;
        if (type && section->sh_type == type) return section;
        if (!name || section->sh_name >= image->section_names.size) continue;
        size_t left = image->section_names.size - section->sh_name;
        const char *found = image->section_names.bytes + section->sh_name;
        if (!type && strncmp(found, name, left) == 0) return section;
    }
    return NULL;
}

static int compare_symbols(const void *a, const void *b) {
    const struct symbol *first = a, *second = b;
    if (first->address != second->address) return first->address < second->address ? -1 : 1;
    // The larger symbol of one address is found first.
    return (first->size < second->size) - (first->size > second->size);
}

static void read_symbols(struct image *image, int file) {
    const Elf64_Shdr *table = find_section(image, SHT_SYMTAB, NULL);
    if (!table) table = find_section(image, SHT_DYNSYM, NULL);
    if (!table || table->sh_link >= image->header.e_shnum) return;
    const Elf64_Shdr *names = &image->sections[table->sh_link];
    struct section all = copy(file, table->sh_offset, table->sh_size);
    image->names = copy(file, names->sh_offset, names->sh_size);
    if (!all.bytes || !image->names.bytes) return;
    const Elf64_Sym *symbols = (const Elf64_Sym *)all.bytes;
    size_t count = all.size / sizeof *symbols;
    size_t size = count * sizeof(struct symbol) + 1;
    struct symbol *found = mmap(
        NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found != MAP_FAILED) {
        size_t used = 0;
        for (size_t i = 0; i < count; i++) {
            int type = ELF64_ST_TYPE(symbols[i].st_info);
            int is_code_or_data = type == STT_OBJECT || type == STT_FUNC || type == STT_NOTYPE;
            if (!symbols[i].st_value || !is_code_or_data) continue;
            if (symbols[i].st_name >= image->names.size || symbols[i].st_size > UINT32_MAX) continue;
            found[used++] = (struct symbol){
                .address = symbols[i].st_value, .size = (uint32_t)symbols[i].st_size,
                .name = symbols[i].st_name};
        }
        qsort(found, used, sizeof *found, compare_symbols);
        mprotect(found, size, PROT_READ);
        image->symbols = found;
        image->symbol_count = used;
    }
    munmap((void *)all.bytes, all.size);
}

static void read_file(struct image *image, uintptr_t header_address) {
    int file = open_file(image);
    if (file < 0) return;
    Elf64_Ehdr loaded;
    Elf64_Ehdr *header = &image->header;
    int is_same = pread(file, header, sizeof *header, 0) == sizeof *header
        && tether_read_memory(header_address, &loaded, sizeof loaded) == sizeof loaded
        && memcmp(header, &loaded, sizeof loaded) == 0 && !memcmp(header, ELFMAG, SELFMAG)
        && header->e_shentsize == sizeof(Elf64_Shdr);
    if (is_same) {
        uint64_t size = (uint64_t)header->e_shnum * sizeof(Elf64_Shdr);
        image->sections = (Elf64_Shdr *)copy(file, header->e_shoff, size).bytes;
    }
    if (image->sections && header->e_shstrndx < header->e_shnum) {
        const Elf64_Shdr *names = &image->sections[header->e_shstrndx];
        image->section_names = copy(file, names->sh_offset, names->sh_size);
        read_symbols(image, file);
    } else {
        header->e_shnum = 0;
    }
    close(file);
}

struct search {
    uintptr_t address, base, start, end, header;
    char path[1024];
};

static int visit(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct search *search = data;
    uintptr_t header = 0;
    int is_around = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        uintptr_t start = info->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        if (part->p_offset == 0) header = start;
        if (search->address < start || search->address >= end) continue;
        is_around = 1;
        search->start = start;
        search->end = end;
    }
    if (!is_around) return 0;
    int is_named = info->dlpi_name && info->dlpi_name[0];
    snprintf(
        search->path, sizeof search->path, "%s", is_named ? info->dlpi_name : "/proc/self/exe");
    search->base = info->dlpi_addr;
    search->header = header;
    return 1;
}

struct image *find_image(uintptr_t address) {
    struct search search = {.address = address};
    if (!dl_iterate_phdr(visit, &search)) return NULL;
    for (size_t i = 0; i < image_count; i++) {
        struct image *known = images[i];
        if (known->base == search.base && strcmp(known->path, search.path) == 0) return known;
    }
    if (image_count == max_images) return NULL;
    struct image *image = calloc(1, sizeof *image);
    if (!image) return NULL;
    image->base = search.base;
    memcpy(image->path, search.path, sizeof image->path);
    read_file(image, search.header);
    images[image_count++] = image;
    return image;
}

uintptr_t address_in_file(const struct image *image, uintptr_t address) {
    return address - image->base;
}

const char *path_of(const struct image *image) { return image->path; }

const struct symbol *symbols_of(struct image *image, size_t *count) {
    *count = image->symbol_count;
    return image->symbols;
}

const char *name_of(const struct image *image, const struct symbol *symbol) {
    return image->names.bytes + symbol->name;
}

struct section lines_of(struct image *image) {
    if (image->has_read_lines) return image->lines;
    image->has_read_lines = 1;
    const Elf64_Shdr *section = find_section(image, 0, ".debug_line");
    int file = section ? open_file(image) : -1;
    if (file < 0) return image->lines;
    image->lines = copy(file, section->sh_offset, section->sh_size);
    close(file);
    return image->lines;
}

// The last symbol that begins at or before an address and covers it. A symbol without a size covers
// a word.
static const struct symbol *find_covering(struct image *image, uintptr_t address) {
    size_t low = 0, high = image->symbol_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (image->symbols[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // Symbols may be inside of others, so some before are looked at, too.
    enum { nested = 8 };
    const struct symbol *found = NULL;
    for (size_t i = low; i > 0 && low - i < nested; i--) {
        const struct symbol *symbol = &image->symbols[i - 1];
        if (found && symbol->address < found->address) break;
        if (address - symbol->address < (symbol->size ? symbol->size : 8)) found = symbol;
    }
    return found;
}

struct tether_symbol tether_find_symbol(
    uintptr_t address, char *name, size_t name_capacity, char *image_path, size_t image_capacity) {
    name[0] = 0;
    image_path[0] = 0;
    struct image *image = find_image(~address);
    if (!image) return (struct tether_symbol){.is_in_image = 0, .offset = 0};
    snprintf(image_path, image_capacity, "%s", image->path);
    uintptr_t in_file = address_in_file(image, ~address);
    const struct symbol *found = find_covering(image, in_file);
    if (!found) return (struct tether_symbol){.is_in_image = 1, .offset = 0};
    snprintf(name, name_capacity, "%s", name_of(image, found));
    return (struct tether_symbol){.is_in_image = 1, .offset = in_file - found->address};
}
#else
struct tether_symbol tether_find_symbol(
    uintptr_t address, char *name, size_t name_capacity, char *image, size_t image_capacity) {
    (void)address;
    (void)name_capacity;
    (void)image_capacity;
    name[0] = 0;
    image[0] = 0;
    return (struct tether_symbol){.is_in_image = 0, .offset = 0};
}
#endif

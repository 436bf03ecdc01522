#include "ElfImages.h"

#include <string.h>

#if defined(__linux__) && UINTPTR_MAX > UINT32_MAX
#include <stdio.h>

// The lines of functions, from the table that swiftc writes: section 6.2 of the DWARF standard,
// version 4. A unit of another version, or of another address size, is left out.

// The bytes of a unit that are still to be read.
struct reader {
    const unsigned char *next, *end;
};

static size_t left(const struct reader *reader) { return (size_t)(reader->end - reader->next); }

static uint8_t read_byte(struct reader *reader) { return left(reader) ? *reader->next++ : 0; }

static uint64_t read_number(struct reader *reader, size_t size) {
    uint64_t value = 0;
    if (size > left(reader)) {
        reader->next = reader->end;
        return 0;
    }
    memcpy(&value, reader->next, size);
    reader->next += size;
    return value;
}

static uint64_t read_uleb(struct reader *reader) {
    uint64_t value = 0;
    for (int shift = 0; left(reader); shift += 7) {
        uint8_t byte = read_byte(reader);
        if (shift < 64) value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static int64_t read_sleb(struct reader *reader) {
    uint64_t value = 0;
    int shift = 0;
    uint8_t byte = 0;
    while (left(reader)) {
        byte = read_byte(reader);
        if (shift < 64) value |= (uint64_t)(byte & 0x7F) << shift;
        shift += 7;
        if (!(byte & 0x80)) break;
    }
    if (shift < 64 && byte & 0x40) value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

static const char *read_string(struct reader *reader) {
    const char *text = (const char *)reader->next;
    const unsigned char *end = memchr(reader->next, 0, left(reader));
    reader->next = end ? end + 1 : reader->end;
    return end ? text : "";
}

// The head of a unit.
struct unit {
    unsigned smallest_instruction, line_range, opcode_base;
    int line_base;
    const unsigned char *operand_counts;
    // The names of the files.
    struct reader files;
    struct reader program;
};

static int read_unit(struct reader reader, struct unit *unit) {
    if (read_number(&reader, 2) != 4) return 0;
    uint64_t header_size = read_number(&reader, 4);
    if (header_size > left(&reader)) return 0;
    const unsigned char *program = reader.next + header_size;
    unit->smallest_instruction = read_byte(&reader);
    read_byte(&reader); // operations of an instruction
    read_byte(&reader); // whether a row is a statement
    unit->line_base = (int8_t)read_byte(&reader);
    unit->line_range = read_byte(&reader);
    unit->opcode_base = read_byte(&reader);
    unit->operand_counts = reader.next;
    if (!unit->line_range || !unit->opcode_base) return 0;
    if ((size_t)(program - reader.next) < unit->opcode_base - 1) return 0;
    reader.next += unit->opcode_base - 1;
    unit->program = (struct reader){program, reader.end};
    // The directories end with an empty name.
    reader.end = program;
    while (left(&reader) && *reader.next) read_string(&reader);
    read_byte(&reader);
    unit->files = reader;
    return 1;
}

static void copy_file_name(const struct unit *unit, uint64_t number, char *name, size_t capacity) {
    struct reader files = unit->files;
    for (uint64_t n = 1; left(&files) && *files.next; n++) {
        const char *text = read_string(&files);
        if (n == number) {
            snprintf(name, capacity, "%s", text);
            return;
        }
        read_uleb(&files); // directory
        read_uleb(&files); // time
        read_uleb(&files); // size
    }
}

// A row of the table: the code from an address on belongs to a line.
struct row {
    uint64_t address, file;
    int64_t line;
};

enum step { no_row, new_row, end_of_sequence };

static enum step run_extended(const struct unit *unit, struct reader *program, struct row *row) {
    (void)unit;
    uint64_t size = read_uleb(program);
    if (!size || size > left(program)) {
        program->next = program->end;
        return no_row;
    }
    struct reader operands = {program->next, program->next + size};
    program->next += size;
    switch (read_byte(&operands)) {
    case 1: return end_of_sequence;
    case 2:
        row->address = read_number(&operands, 8);
        return no_row;
    default: return no_row;
    }
}

// Runs one instruction of a unit's program.
static enum step run(const struct unit *unit, struct reader *program, struct row *row) {
    unsigned code = read_byte(program);
    if (code >= unit->opcode_base) {
        unsigned both = code - unit->opcode_base;
        row->address += both / unit->line_range * unit->smallest_instruction;
        row->line += unit->line_base + (int)(both % unit->line_range);
        return new_row;
    }
    switch (code) {
    case 0: return run_extended(unit, program, row);
    case 1: return new_row;
    case 2:
        row->address += read_uleb(program) * unit->smallest_instruction;
        return no_row;
    case 3:
        row->line += read_sleb(program);
        return no_row;
    case 4:
        row->file = read_uleb(program);
        return no_row;
    case 8:
        row->address += (255 - unit->opcode_base) / unit->line_range * unit->smallest_instruction;
        return no_row;
    case 9:
        row->address += read_number(program, 2);
        return no_row;
    default:
        for (unsigned n = unit->operand_counts[code - 1]; n; n--) read_uleb(program);
        return no_row;
    }
}

// The line of the first row with a line in a function: the row that covers the function's beginning,
// or a later one before its end.
static long find_line(
    const struct unit *unit, uint64_t start, uint64_t end, char *name, size_t capacity) {
    const struct row first = {.address = 0, .file = 1, .line = 1};
    struct reader program = unit->program;
    struct row row = first, last = first;
    int has_last = 0, is_inside = 0;
    while (left(&program)) {
        enum step step = run(unit, &program, &row);
        if (step == no_row) continue;
        if (has_last && last.address <= start && start < row.address) is_inside = 1;
        if (is_inside && last.line > 0 && row.address > start) {
            copy_file_name(unit, last.file, name, capacity);
            return (long)last.line;
        }
        if (is_inside && last.address >= end) return 0;
        last = row;
        has_last = step == new_row;
        if (step == end_of_sequence) {
            row = first;
            is_inside = 0;
        }
    }
    return 0;
}

long tether_find_line(uintptr_t address, const char *symbol, char *file, size_t capacity) {
    file[0] = 0;
    struct image *image = find_image(~address);
    if (!image) return 0;
    struct section lines = lines_of(image);
    size_t count = 0;
    const struct symbol *symbols = symbols_of(image, &count);
    const struct symbol *found = NULL;
    for (size_t i = 0; i < count && !found; i++) {
        if (strcmp(name_of(image, &symbols[i]), symbol) == 0) found = &symbols[i];
    }
    if (!lines.bytes || !found) return 0;
    struct reader all = {
        (const unsigned char *)lines.bytes, (const unsigned char *)lines.bytes + lines.size};
    while (left(&all) > 4) {
        uint64_t size = read_number(&all, 4);
        if (size > left(&all)) return 0;
        struct unit unit;
        if (read_unit((struct reader){all.next, all.next + size}, &unit)) {
            uint64_t end = found->address + found->size;
            long line = find_line(&unit, found->address, end, file, capacity);
            if (line) return line;
        }
        all.next += size;
    }
    return 0;
}
#else
long tether_find_line(uintptr_t address, const char *symbol, char *file, size_t capacity) {
    (void)address;
    (void)symbol;
    (void)capacity;
    file[0] = 0;
    return 0;
}
#endif

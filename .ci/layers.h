// What .ci/layers.swift needs of the toolchain's libIndexStore, which comes without a header. LLVM keeps these functions
// compatible: they are declared in its clang/include/indexstore/indexstore.h.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *_Nullable indexstore_t;
typedef void *_Nullable indexstore_unit_reader_t;
typedef void *_Nullable indexstore_record_reader_t;
typedef void *_Nullable indexstore_dependency_t;
typedef void *_Nullable indexstore_occurrence_t;
typedef void *_Nullable indexstore_symbol_t;
typedef struct {
    const char *_Nullable data;
    size_t length;
} indexstore_string_ref_t;

indexstore_t indexstore_store_create(const char *_Nonnull path, void *_Nullable *_Nullable error);
bool indexstore_store_units_apply_f(
    indexstore_t store, unsigned sorted, void *_Nullable context,
    bool (*_Nonnull body)(void *_Nullable context, indexstore_string_ref_t name));

indexstore_unit_reader_t indexstore_unit_reader_create(
    indexstore_t store, const char *_Nonnull name, void *_Nullable *_Nullable error);
void indexstore_unit_reader_dispose(indexstore_unit_reader_t reader);
bool indexstore_unit_reader_dependencies_apply_f(
    indexstore_unit_reader_t reader, void *_Nullable context,
    bool (*_Nonnull body)(void *_Nullable context, indexstore_dependency_t dependency));
// 1: another unit, 2: the record of a file, 3: a file.
unsigned indexstore_unit_dependency_get_kind(indexstore_dependency_t dependency);
indexstore_string_ref_t indexstore_unit_dependency_get_name(indexstore_dependency_t dependency);
indexstore_string_ref_t indexstore_unit_dependency_get_filepath(indexstore_dependency_t dependency);

indexstore_record_reader_t indexstore_record_reader_create(
    indexstore_t store, const char *_Nonnull name, void *_Nullable *_Nullable error);
void indexstore_record_reader_dispose(indexstore_record_reader_t reader);
bool indexstore_record_reader_occurrences_apply_f(
    indexstore_record_reader_t reader, void *_Nullable context,
    bool (*_Nonnull body)(void *_Nullable context, indexstore_occurrence_t occurrence));
indexstore_symbol_t indexstore_occurrence_get_symbol(indexstore_occurrence_t occurrence);
// 2: a definition, 4: a reference.
uint64_t indexstore_occurrence_get_roles(indexstore_occurrence_t occurrence);
void indexstore_occurrence_get_line_col(
    indexstore_occurrence_t occurrence, unsigned *_Nullable line, unsigned *_Nullable column);
indexstore_string_ref_t indexstore_symbol_get_usr(indexstore_symbol_t symbol);
indexstore_string_ref_t indexstore_symbol_get_name(indexstore_symbol_t symbol);

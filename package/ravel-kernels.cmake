# ravel_add_kernels(TARGET [SPEC...] KERNEL...): compile conversions into TARGET.
#
# A SPEC is a file of layouts, NAME.lua, and a KERNEL is "NAME FROM TO DTYPE SHAPE", as in
#
#   ravel_add_kernels(app mine.lua
#       "to_mine  NCHW  MINE  f16  N,C,56,56"
#       "to_nhwc  NCHW  NHWC  f32  2,3,5,7")
#
# `ravel emit` writes a file for each KERNEL, again when a SPEC changes.  The header
# ravel_kernels.h, which TARGET may include, declares the functions.  FROM and TO have no
# spaces in them.

# The functions of a kernel: those that emit writes.
function(_ravel_prototypes out name shape)
    string(REPLACE "," ";" extents "${shape}")
    list(FILTER extents INCLUDE REGEX "^[A-Za-z]")
    list(REMOVE_DUPLICATES extents)
    list(TRANSFORM extents PREPEND "int64_t extent_")
    list(JOIN extents ", " arguments)
    if(arguments STREQUAL "")
        set(${out} "void ${name}(void *dst, const void *src);\n" PARENT_SCOPE)
        return()
    endif()
    set(${out} "int ${name}(void *dst, const void *src, ${arguments});
int ${name}_bytes(${arguments}, int64_t *src_bytes, int64_t *dst_bytes);\n" PARENT_SCOPE)
endfunction()

function(ravel_add_kernels target)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/ravel_kernels/${target}")
    set(specs)
    set(options)
    set(prototypes)
    foreach(word IN LISTS ARGN)
        if(word MATCHES "\\.lua$")
            get_filename_component(path "${word}" ABSOLUTE)
            list(APPEND specs "${path}")
            list(APPEND options "--spec=${path}")
            continue()
        endif()
        separate_arguments(field UNIX_COMMAND "${word}")
        list(LENGTH field fields)
        if(NOT fields EQUAL 5)
            message(FATAL_ERROR "ravel_add_kernels: '${word}' is not NAME FROM TO DTYPE SHAPE")
        endif()
        list(GET field 0 name)
        list(GET field 1 from)
        list(GET field 2 to)
        list(GET field 3 dtype)
        list(GET field 4 shape)
        add_custom_command(OUTPUT "${folder}/${name}.c"
            COMMAND ravel::command emit --from=${from} --to=${to} --dtype=${dtype}
                    --shape=${shape} --name=${name} ${options} -o "${folder}/${name}.c"
            DEPENDS ravel::command ${specs} COMMENT "ravel emit ${name}" VERBATIM)
        target_sources(${target} PRIVATE "${folder}/${name}.c")
        _ravel_prototypes(prototype "${name}" "${shape}")
        string(APPEND prototypes "${prototype}")
    endforeach()
    file(CONFIGURE OUTPUT "${folder}/ravel_kernels.h" @ONLY CONTENT
"/* Made by ravel_add_kernels for @target@. */
#ifndef RAVEL_KERNELS_H
#define RAVEL_KERNELS_H
#include <stdint.h>
#ifdef __cplusplus
extern \"C\" {
#endif
@prototypes@#ifdef __cplusplus
}
#endif
#endif
")
    target_include_directories(${target} PRIVATE "${folder}")
endfunction()

# ravel_add_kernels(TARGET [SPEC...] KERNEL...|LIST): compile conversions into TARGET.
#
# A SPEC is a file of layouts, NAME.lua, and a KERNEL is "NAME FROM TO DTYPE SHAPE", as in
#
#   ravel_add_kernels(app mine.lua
#       "to_mine  NCHW  MINE  f16  N,C,56,56"
#       "to_nhwc  NCHW  NHWC  f32  2,3,5,7")
#
# FROM and TO have no spaces in them.  A LIST is a file NAME.txt of `ravel emit --list`.
#
# `ravel emit` writes one file of C with all kernels, again when a file that it read
# changes.  The header ravel_kernels.h, which TARGET may include, declares the functions.
# In a project without C they are compiled as C++.

# A line of a list, of a KERNEL.
function(_ravel_line out kernel)
    separate_arguments(field UNIX_COMMAND "${kernel}")
    list(LENGTH field fields)
    if(NOT fields EQUAL 5)
        message(FATAL_ERROR "ravel_add_kernels: '${kernel}' is not NAME FROM TO DTYPE SHAPE")
    endif()
    set(line)
    foreach(option name from to dtype shape)
        list(POP_FRONT field value)
        string(APPEND line "--${option} '${value}' ")
    endforeach()
    set(${out} "${line}\n" PARENT_SCOPE)
endfunction()

function(ravel_add_kernels target)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/ravel_kernels/${target}")
    set(output "${folder}/ravel_kernels.c" "${folder}/ravel_kernels.h")
    set(list "${folder}/ravel_kernels.txt")
    set(specs)
    set(lines)
    foreach(word IN LISTS ARGN)
        get_filename_component(path "${word}" ABSOLUTE)
        if(word MATCHES "\\.lua$")
            list(APPEND specs "--spec=${path}")
        elseif(word MATCHES "\\.txt$")
            set(list "${path}")
        else()
            _ravel_line(line "${word}")
            string(APPEND lines "${line}")
        endif()
    endforeach()
    if(lines AND NOT list STREQUAL "${folder}/ravel_kernels.txt")
        message(FATAL_ERROR "ravel_add_kernels: kernels are given here or in ${list}, not both")
    endif()
    if(lines)
        file(CONFIGURE OUTPUT "${list}" CONTENT "${lines}" @ONLY)
    endif()
    add_custom_command(OUTPUT ${output}
        COMMAND ravel::command emit "--list=${list}" ${specs} -o "${folder}/ravel_kernels.c"
                "--header=${folder}/ravel_kernels.h" "--depfile=${folder}/ravel_kernels.d"
        DEPENDS ravel::command "${list}" DEPFILE "${folder}/ravel_kernels.d"
        COMMENT "ravel emit ${target}" VERBATIM)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT "C" IN_LIST languages)
        set_source_files_properties("${folder}/ravel_kernels.c" PROPERTIES LANGUAGE CXX)
    endif()
    target_sources(${target} PRIVATE ${output})
    target_include_directories(${target} PRIVATE "${folder}")
endfunction()

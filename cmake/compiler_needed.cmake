# Says which compiler is needed, in the first line of a failed build rather than the last.
set(needed "jounce needs a C++20 compiler: GCC 11, Clang 14, or newer")
set(cure "On Debian and Ubuntu: apt install g++. On macOS: xcode-select --install. To choose one: CXX=g++-12 pip install .")

# Before project(), which would only say that it found none.
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX} AND NOT CMAKE_TOOLCHAIN_FILE AND UNIX)
  find_program(any_compiler NAMES c++ g++ clang++ NO_CACHE)
  if(NOT any_compiler)
    message(FATAL_ERROR "${needed}; there is none here. ${cure}")
  endif()
endif()

function(check_compiler)
  foreach(oldest GNU-11 Clang-14 AppleClang-14)
    string(REGEX MATCH "^([A-Za-z]+)-([0-9]+)$" _ ${oldest})
    if(CMAKE_CXX_COMPILER_ID STREQUAL CMAKE_MATCH_1 AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS CMAKE_MATCH_2)
      message(FATAL_ERROR
        "${needed}; ${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}. ${cure}")
    endif()
  endforeach()
endfunction()

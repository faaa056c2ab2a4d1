# Says what is missing on this machine, in the first line of a failed build rather than the last.
set(needed "jounce needs a C++20 compiler: GCC 11, Clang 14, or newer")
set(cure "On Debian and Ubuntu: apt install g++. On macOS: xcode-select --install. To choose one: CXX=g++-12 pip install .")

# Before project(), which would say less. CXX comes from the user, or is what Python was built with.
if(NOT CMAKE_CXX_COMPILER AND NOT CMAKE_TOOLCHAIN_FILE AND UNIX)
  separate_arguments(words UNIX_COMMAND "$ENV{CXX}")
  list(APPEND words c++)
  list(GET words 0 first)
  unset(found_compiler CACHE)
  find_program(found_compiler NAMES ${first})
  if(NOT found_compiler)
    message(FATAL_ERROR "${needed}; there is no ${first} here. ${cure}")
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

# After find_package(Python): the headers, which Debian and Fedora package on their own.
function(check_python)
  if(NOT Python_Interpreter_FOUND)
    message(FATAL_ERROR "jounce needs Python 3.10 or newer; CMake found none but ${Python_EXECUTABLE} ${Python_VERSION}")
  elseif(NOT Python_Development.Module_FOUND)
    message(FATAL_ERROR "jounce needs the headers of Python, which ${Python_EXECUTABLE} ${Python_VERSION} is here without. "
      "On Debian and Ubuntu: apt install python3-dev. On Fedora: dnf install python3-devel")
  elseif(NOT Python_NumPy_FOUND)
    message(FATAL_ERROR "jounce is compiled with NumPy, which ${Python_EXECUTABLE} does not have: pip install numpy")
  endif()
endfunction()

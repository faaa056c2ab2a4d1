// Prints the best instruction set that this machine runs.
#include <cstdio>

#include "machine.hpp"

int main() { std::fputs(jounce::best_of_machine(), stdout); }

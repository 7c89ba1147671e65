/* Which linker the layer takes a package's folder for.
 * usage: layer_identity PACKAGE CACHE; prints the 16 bytes in hexadecimal */
#include "layer.h"

#include <stdio.h>

int main(int count, char **words) {
    unsigned char identity[16];
    char text[33];
    if (count != 3 || !identify(words[1], words[2], identity))
        return 2;
    hex(identity, sizeof identity, text);
    puts(text);
    return 0;
}

/* lanes: the vectors that layers.h computes with, for a kind of CPU. A file that includes this is compiled once for each
 * LEVEL, which CMakeLists.txt gives with the instructions of x86-64-v4 and v3; 1 is what every CPU has. What the file
 * gives to others has the level behind its name. */
#define real float
#if LEVEL == 4
#define LANES 16
#define TILE_ROWS 8
#define TILE_OUT 4
#else
#define LANES (LEVEL == 3 ? 8 : 4)
#define TILE_ROWS 4
#define TILE_OUT 2
#endif
#define TILE_COLUMNS 2
#define TILE_IN 4

#define PASTE(name, level) name##_##level
#define PASTE_VALUE(name, level) PASTE(name, level)
#define OF_LEVEL(name) PASTE_VALUE(name, LEVEL)

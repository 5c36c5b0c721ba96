#include "options.h"
static const option_entry options[]={{0}};
static int run(int c,char**o){(void)c;(void)o;return 0;}
const command command_report={.name="report",.summary="x",.synopsis="",.text="",.examples="",.options=options,.run=run};

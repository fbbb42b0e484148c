package testenv

import (
	"os"
	"slices"
	"testing"
)

func TestMoreTestsRunAtATime(t *testing.T) {
	for _, test := range []struct{ args, want []string }{
		{[]string{"x.test", "-test.v"}, []string{"x.test", "-test.parallel=8", "-test.v"}},
		{[]string{"x.test", "-test.v", "-test.parallel=1"},
			[]string{"x.test", "-test.v", "-test.parallel=1"}},
		{[]string{"x.test", "-test.fuzz=X"}, []string{"x.test", "-test.fuzz=X"}},
		{[]string{"arbor", "serve"}, []string{"arbor", "serve"}},
	} {
		if got := withParallel(test.args, 8); !slices.Equal(got, test.want) {
			t.Errorf("%q becomes %q", test.args, got)
		}
	}
	if !Race && !slices.ContainsFunc(os.Args, func(arg string) bool {
		return len(arg) > 14 && arg[:14] == "-test.parallel"
	}) {
		t.Errorf("this process runs as many tests at a time as go says: %q", os.Args)
	}
}

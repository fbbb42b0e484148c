package markdown

import (
	"reflect"
	"strings"
	"testing"
)

// A commit's message closes what it says it fixes, and nothing else.
func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ issues, closes []int64 }{
		"Water the roses":                     {nil, nil},
		"Water the roses (#12)":               {[]int64{12}, nil},
		"Fixes #7":                            {[]int64{7}, []int64{7}},
		"fix: #7":                             {[]int64{7}, []int64{7}},
		"Prune\n\nCloses #3, resolves #4; #5": {[]int64{3, 4, 5}, []int64{3, 4}},
		"closes\n#3":                          {[]int64{3}, []int64{3}},
		"`fixes #7`":                          {[]int64{7}, []int64{7}}, // no markup here
		"<b>#7</b> &#35;8":                    {[]int64{7}, nil},
		"prefixes #7":                         {[]int64{7}, nil},
		"fixes#7 a#8 #0 #x":                   {nil, nil},
		"GH-7":                                {[]int64{7}, nil},
		"\xff #7 \x00":                        {[]int64{7}, nil},
	} {
		refs := Plain(text)
		if got := numbers(refs.Issues); !reflect.DeepEqual(got, want.issues) {
			t.Errorf("%q names %v, want %v", text, got, want.issues)
		}
		if got := numbers(refs.Closes); !reflect.DeepEqual(got, want.closes) {
			t.Errorf("%q closes %v, want %v", text, got, want.closes)
		}
	}
	if refs := Plain("fixes alice/garden#7"); len(refs.Closes) != 1 ||
		refs.Closes[0] != (IssueRef{"alice", "garden", 7}) {
		t.Errorf("%v", refs.Closes)
	}
	if refs := Plain(strings.Repeat("#1 #2 ", 1<<20)); len(refs.Issues) != 2 {
		t.Errorf("%v", refs.Issues)
	}
}

func numbers(list []IssueRef) (n []int64) {
	for _, r := range list {
		n = append(n, r.Number)
	}
	return n
}

package listing

import "testing"

// What menus make of a search keeps what somebody typed, term by term.
func TestQuery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		do         func(Query) Query
		want       string
	}{
		{"spaces", "  a\t\"b  c\"  label:\"x y\",z ", func(q Query) Query {
			return q
		}, `a "b  c" label:"x y",z`},
		{"an open quote", `a "b c`, func(q Query) Query { return append(q, "d") }, `a "b c d`},
		{"state", "is:open bug IS:Closed -is:merged state:open", func(q Query) Query {
			return q.WithState("closed")
		}, "is:closed bug"},
		{"no state", "is:pr is:merged x", func(q Query) Query { return q.WithState("") }, "is:pr x"},
		{"one author", "author:a x -author:b", func(q Query) Query {
			return q.With("author", "c")
		}, "x author:c"},
		{"a label more", "label:a", func(q Query) Query {
			return q.Toggled("label", `b "c`)
		}, `label:a label:"b \"c"`},
		{"a label less", `x label:"good first issue" label:b`, func(q Query) Query {
			return q.Toggled("label", "Good First Issue")
		}, "x label:b"},
		{"none", "milestone:x a", func(q Query) Query { return q.WithNo("milestone") }, "a no:milestone"},
		{"not none", "no:milestone a", func(q Query) Query {
			return q.With("milestone", "y z")
		}, `a milestone:"y z"`},
		{"words stay", `"author:x" y`, func(q Query) Query { return q.Without("author") }, `"author:x" y`},
	} {
		if got := c.do(Parse(c.text)).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	for text, want := range map[string]string{"is:open": "open", "state:closed x": "closed", "is:merged": "",
		"x": "", "-is:open": ""} {
		if got := Parse(text).State(); got != want {
			t.Errorf("%s: state %q, want %q", text, got, want)
		}
	}
	if got := Parse(`a milestone:"x \"y\""`).Value("milestone"); got != `x "y"` {
		t.Errorf("value %q", got)
	}
}

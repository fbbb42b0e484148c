package reaction_test

import (
	"encoding/json"
	"testing"

	"arbor/internal/reaction"
)

// Clients find the counts where GitHub's payloads have them, in its order.
func TestRollupJSON(t *testing.T) {
	t.Parallel()
	const url = `https://example.org/repos/a/"b"/issues/1/reactions`
	u := reaction.Rollup{1, 2, 3, 4, 5, 6, 7, 1 << 40}
	const want = `{"url":"https://example.org/repos/a/\"b\"/issues/1/reactions","total_count":1099511627804,` +
		`"+1":1,"-1":2,"laugh":3,"hooray":4,"confused":5,"heart":6,"rocket":7,"eyes":1099511627776}`
	if got := string(u.AppendJSON([]byte("x"), url)); got != "x"+want {
		t.Errorf("appended %s", got)
	}
	got, err := json.Marshal(map[string]any{"reactions": reaction.Object{URL: url, Rollup: u}})
	if err != nil || string(got) != `{"reactions":`+want+`}` {
		t.Errorf("marshalled %s, %v", got, err)
	}
	const none = `{"url":"","total_count":0,"+1":0,"-1":0,"laugh":0,"hooray":0,"confused":0,"heart":0,"rocket":0,"eyes":0}`
	if got := string(reaction.Rollup{}.AppendJSON(nil, "")); got != none {
		t.Errorf("no reactions are %s", got)
	}
}

// The numbers in the table mean the same for ever.
func TestContents(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"} {
		c, ok := reaction.ParseContent(name)
		if !ok || int(c) != i+1 || c.String() != name {
			t.Errorf("%q is %d, %v", name, c, ok)
		}
	}
	for _, name := range []string{"", "1", "heart ", "HEART", "tada", "\x00"} {
		if c, ok := reaction.ParseContent(name); ok {
			t.Errorf("%q is %d", name, c)
		}
	}
	if s := reaction.Content(0).String() + reaction.Content(9).String() +
		reaction.Content(255).String(); s != "" {
		t.Errorf("what is no content is called %q", s)
	}
}

// inStruct is what AppendJSON appends, for encoding/json.
type inStruct struct {
	URL      string `json:"url"`
	Total    int64  `json:"total_count"`
	PlusOne  int64  `json:"+1"`
	MinusOne int64  `json:"-1"`
	Laugh    int64  `json:"laugh"`
	Hooray   int64  `json:"hooray"`
	Confused int64  `json:"confused"`
	Heart    int64  `json:"heart"`
	Rocket   int64  `json:"rocket"`
	Eyes     int64  `json:"eyes"`
}

// BenchmarkAppendJSON renders the rollup of one issue by hand and by encoding/json.
func BenchmarkAppendJSON(b *testing.B) {
	u := reaction.Rollup{12, 0, 3, 0, 0, 140, 0, 1}
	const url = "https://example.org/repos/alice/garden/issues/1234/reactions"
	b.Run("hand", func(b *testing.B) {
		var buf []byte
		b.ReportAllocs()
		for b.Loop() {
			buf = u.AppendJSON(buf[:0], url)
		}
	})
	b.Run("struct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(inStruct{url, u.Total(), u[0], u[1], u[2], u[3], u[4], u[5], u[6],
				u[7]}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

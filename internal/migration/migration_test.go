package migration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"arbor/internal/release"
	"arbor/internal/test/testkit"
)

// Texts lead to the new place, and code stays.
func TestTexts(t *testing.T) {
	t.Parallel()
	people := &people{host: "code.example.com", logins: map[string]string{"alice": "ann"},
		records: map[string]*Person{"alice": {Login: "Alice"}, "bob": {Login: "bob"}}}
	texts := newTexts("https://code.example.com/acme/tool", "acme/tool", "ann/tool", people.nameIn)
	texts.attachments = map[string]string{strings.Repeat("a", 26): strings.Repeat("b", 26)}
	for text, want := range map[string]string{
		"plain #12 stays":                                                  "plain #12 stays",
		"@alice, @Alice and (@bob); @media":                                "@ann, @ann and (bob at code.example.com); @media",
		"a@alice.com @alice/x":                                             "a@alice.com @ann/x",
		"`@alice` and ``x ` @bob``":                                        "`@alice` and ``x ` @bob``",
		"```\n@alice\n```\n@alice":                                         "```\n@alice\n```\n@ann",
		"> ~~~\n> @alice\n> ~~~\n@alice":                                   "> ~~~\n> @alice\n> ~~~\n@ann",
		"see https://code.example.com/acme/tool/issues/3.":                 "see #3.",
		"https://code.example.com/acme/tool/pull/3#issuecomment-9 ok":      "#3 ok",
		"<https://code.example.com/acme/tool/issues/3>":                    "#3",
		"[it](https://code.example.com/acme/tool/issues/3#issuecomment-1)": "[it](/ann/tool/issues/3)",
		"https://code.example.com/acme/tool/blob/main/a.go#L3":             "[ann/tool/blob/main/a.go#L3](/ann/tool/blob/main/a.go#L3)",
		"https://code.example.com/acme/toolbox/issues/3":                   "https://code.example.com/acme/toolbox/issues/3",
		"![x](/acme/tool/attachments/" + strings.Repeat("a", 26) + ")":     "![x](/ann/tool/attachments/" + strings.Repeat("b", 26) + ")",
		"`https://code.example.com/acme/tool/issues/3`":                    "`https://code.example.com/acme/tool/issues/3`",
	} {
		if got := texts.rewrite(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// A map names each person once.
func TestReadMap(t *testing.T) {
	t.Parallel()
	got, err := ReadMap(strings.NewReader("# people\nAlice ann\n\nbob  bob\n"))
	testkit.NoError(t, err)
	if len(got) != 2 || got["alice"] != "ann" || got["bob"] != "bob" {
		t.Errorf("the map is %v", got)
	}
	for _, bad := range []string{"alice", "alice ann x", "alice ann\nALICE bob"} {
		if _, err := ReadMap(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is a map", bad)
		}
	}
}

// Each kind's texts count, and a record that changed counts for what it grew by; what it is charged for survives
// storage.
func TestGrowth(t *testing.T) {
	t.Parallel()
	im := &importer{check: &checker{now: time.Now(), report: func(string, ...any) {}}}
	text := strings.Repeat("x", 5000)
	for _, r := range []Record{&Event{ID: "1", Issue: 1, Milestone: text}, &Milestone{Number: 1, Title: text},
		&Review{ID: "1", Pull: 1, Body: text}, &CommitComment{ID: "1", Body: text}, &Asset{ID: "1", Name: text}} {
		made, err := im.newRow(r)
		testkit.NoError(t, err)
		if made.growth() < 5000 {
			t.Errorf("a %T with a text of 5000 bytes counts for %d", r, made.growth())
		}
	}
	for _, c := range []struct{ before, size, was, want int64 }{
		{0, 100, 0, rowBytes + 100}, {7, 100, 100, 0}, {7, 5100, 100, 5000}, {7, 10, 100, 0}, {7, 100, 0, 100},
	} {
		r := &row{earlierID: c.before, size: c.size, earlierSize: c.was}
		if got := r.growth(); got != c.want {
			t.Errorf("%+v counts for %d", c, got)
		}
	}
	for stored, want := range map[string]before{joinDigest("ab", 12): {digest: "ab", size: 12}, "ab": {digest: "ab"}} {
		if digest, size := splitDigest(stored); digest != want.digest || size != want.size {
			t.Errorf("%q is read as %q, %d", stored, digest, size)
		}
	}
}

// Texts of events and names of files come in the form that they would have if they were made here.
func TestCheckedTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 9000)
	c := &checker{now: time.Now(), report: func(string, ...any) {}}
	e := &Event{ID: "1", Issue: 1, Event: "renamed", Milestone: long, Reason: long, Team: long, Message: long,
		Label: json.RawMessage(`{"name":"` + long + `","color":"` + long + `"}`), Rename: json.RawMessage(`{"from":"a","to":"` + long + `"}`)}
	testkit.NoError(t, c.check(e))
	for what, is := range map[string][2]int{"milestone": {len(e.Milestone), 256}, "reason": {len(e.Reason), 255},
		"team": {len(e.Team), 255}, "message": {len(e.Message), 9000}, "label": {len(e.Label), len(`{"name":"","color":""}`) + 100},
		"rename": {len(e.Rename), len(`{"from":"a","to":""}`) + 256}} {
		if is[0] != is[1] {
			t.Errorf("the %s of an event has %d bytes, want %d", what, is[0], is[1])
		}
	}
	short := &Event{ID: "1", Issue: 1, Label: json.RawMessage(`{"name": "bug", "more": 1}`), Rename: json.RawMessage(`[]`)}
	testkit.NoError(t, c.check(short))
	if string(short.Label)+string(short.Rename) != `{"name": "bug", "more": 1}[]` {
		t.Errorf("short texts became %s and %s", short.Label, short.Rename)
	}
	for name, want := range map[string]string{"tool.zip": "tool.zip", `a"; x="b.zip`: "a.x.b.zip", "linux/tool": "linux.tool",
		"a\nb": "", "": "", long: ""} {
		a := &Asset{ID: "1", Name: name, Label: &long, File: File{Path: "x"}}
		err := c.check(a)
		if (err == nil) != (want != "") || want != "" && (a.Name != want || len(*a.Label) != release.MaxLabel) {
			t.Errorf("the file %.20q became %.20q: %v", name, a.Name, err)
		}
	}
}

// A line that is too long is skipped, and the next ones are read.
func TestReadLine(t *testing.T) {
	t.Parallel()
	in := bufio.NewReaderSize(strings.NewReader("a\n"+strings.Repeat("x", maxLine+1)+"\nb"), 4096)
	for _, want := range []struct {
		line string
		err  error
	}{{"a\n", nil}, {"", errLong}, {"b", io.EOF}, {"", io.EOF}} {
		line, err := readLine(in)
		if string(line) != want.line || !errors.Is(err, want.err) {
			t.Errorf("read %q, %v, want %q, %v", line, err, want.line, want.err)
		}
	}
}

// Whatever a file contains, each line becomes a record that the checks took or an error, and the checks bring each
// record into a form that they take again as it is.
func FuzzRecords(f *testing.F) {
	f.Add("issues", `{"number":1,"title":"x","state":"open","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"}`)
	f.Add("review_comments", `{"id":"1","pull":1,"review":"2","path":"a","side":"LEFT"}`)
	f.Add("events", `{"id":"1","issue":1,"event":"labeled","label":{"name":"x"}}`+"\n{")
	f.Add("labels", "{\"name\":\"\\u0000\"}\n\n[]\nnull")
	f.Fuzz(func(t *testing.T, kind, text string) {
		if newRecord(Kind(kind)) == nil {
			return
		}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		lines := 0
		err := readRecords(context.Background(), strings.NewReader(text), Kind(kind), func(r Record, err error) error {
			lines++
			if (r == nil) == (err == nil) {
				t.Fatalf("record %v, error %v", r, err)
			}
			if err != nil {
				return nil
			}
			first := &checker{now: now, report: func(string, ...any) {}}
			if first.check(r) != nil {
				return nil
			}
			before, err := json.Marshal(r)
			testkit.NoError(t, err)
			again := &checker{now: now, report: func(format string, args ...any) { t.Errorf(format, args...) }}
			testkit.NoError(t, again.check(r))
			if after, _ := json.Marshal(r); !bytes.Equal(before, after) {
				t.Errorf("checked again, %s is %s", before, after)
			}
			return nil
		})
		testkit.NoError(t, err)
		if most := strings.Count(text, "\n") + 1; lines > most {
			t.Errorf("%d records in %d lines", lines, most)
		}
	})
}

// A rewritten text leads nowhere else when it is rewritten, and no input makes it fail.
func FuzzTexts(f *testing.F) {
	f.Add("see `https://h/a/b/issues/1` @alice https://h/a/b/pull/2")
	f.Fuzz(func(t *testing.T, text string) {
		people := &people{host: "h", logins: map[string]string{"alice": "alice"}, records: map[string]*Person{}}
		texts := newTexts("https://h/a/b", "a/b", "c/d", people.nameIn)
		out := texts.rewrite(text)
		if same := newTexts("https://none/a/b", "a/b", "c/d", people.nameIn).rewrite(text); same != text {
			t.Errorf("%q names nothing of the source and became %q", text, same)
		}
		_ = out
	})
}

package markdown

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Who is named gets notified, what is named is linked, and what "fixes" stands
// before is closed by a merge: too few and too many are both noticed.
func TestReferences(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"@alice and @Bob, @alice":                                      "@alice @bob",
		"@a.b_c-d @x. @y_ @z- @q...":                                   "@a.b_c-d @x @y @z @q",
		"a@b.c mail@host x@y":                                          "",
		"git@host:o/r.git ssh://git@h/x":                               "",
		"http://h/@a http://h.com/@b www.h.com/@c":                     "",
		"@org/team /@path @@a @a@b @-x @.y":                            "",
		"请@alice看 @bobé é@carol _@dave_":                               "@alice @dave",
		"@" + strings.Repeat("a", 39) + " @" + strings.Repeat("b", 40): "@" + strings.Repeat("a", 39),
		"`@a` <code>@b</code> <pre>@c</pre>":                           "",
		"```\n@a #1\n```\n\n    @b #2\n":                               "",
		"[@a](/x) <a href=/y>#1</a>":                                   "",
		"# @a\n\n|@b|\n|-|\n|#1|\n\n> - @c":                            "@a @b @c #1",
		"#1 (#2) #3, #4: #5.":                                          "#1 #2 #3 #4 #5",
		"修复#7":                                                         "#7",
		"#0 #01 #12345678901 #1a a#1 ##1 &#1 /#1":                      "",
		"http://h.com/x#1 x.html#2":                                    "",
		"GH-8 gh-9 GH-0 XGH-1 GH-1x GH-":                               "#8 #9",
		"o/r#1 O/R#1 o/r.x-y#2 a/b/c#3 o/#4 /r#5":                      "o/r#1 o/r.x-y#2",
		"o/r#1: o/r#2. (o/r#3)":                                        "o/r#1 o/r#2 o/r#3",
		"0123456 abcdef0. (0123456789abcdef0123456789abcdef01234567)":  "0123456 abcdef0 0123456789abcdef0123456789abcdef01234567",
		"012345 ABCDEF0 abcdefg 0123456-x x-0123456 a/0123456":         "",
		"0123456789abcdef0123456789abcdef012345678":                    "",
		"o/r@0123456 o/r@012345 o/r@0123456x r@0123456":                "o/r@0123456",
		"0123456.png 0123456@h 0123456/x #0123456":                     "",
		"fixes #1":                       "#1 !#1",
		"Fix #1, FIXED #2; close: #3":    "#1 #2 #3 !#1 !#2 !#3",
		"closes:#1 closed #2 Resolve #3": "#1 #2 #3 !#1 !#2 !#3",
		"resolves o/r#1 resolved GH-2":   "o/r#1 #2 !o/r#1 !#2",
		"fixes\n#1":                      "#1",
		"fixes #1, #2 and #3":            "#1 #2 #3 !#1",
		"prefixes #1 fixes-#2 fixes the #3 unfixed: #4 fixes. #5 fixes/closes #6": "#1 #3 #4 #5 #6",
		"`fixes` #1 **fixes** #2": "#1 #2",
		"fixes @a #1":             "@a #1",
	} {
		if got := flat(Parse(source).References()); got != want {
			t.Errorf("%q names %q, want %q", source, got, want)
		}
	}
}

// flat writes references for people to compare; ! marks what is closed.
func flat(r References) string {
	var out []string
	for _, login := range r.Logins {
		out = append(out, "@"+login)
	}
	name := func(owner, repo string) string {
		if owner == "" {
			return ""
		}
		return owner + "/" + repo
	}
	for _, i := range r.Issues {
		out = append(out, fmt.Sprintf("%s#%d", name(i.Owner, i.Repo), i.Number))
	}
	for _, c := range r.Commits {
		out = append(out, strings.TrimPrefix(name(c.Owner, c.Repo)+"@"+c.SHA, "@"))
	}
	for _, i := range r.Closes {
		out = append(out, fmt.Sprintf("!%s#%d", name(i.Owner, i.Repo), i.Number))
	}
	return strings.Join(out, " ")
}

// One body must not make a page look up ten thousand names, nor write as many links.
func TestReferencesAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "@u%d fixes #%d %07x @u1\n", i, i+1, i)
	}
	d := Parse(b.String())
	r := d.References()
	if len(r.Logins) != MaxReferences || len(r.Issues) != MaxReferences || len(r.Commits) != MaxReferences ||
		len(r.Closes) != MaxReferences {
		t.Errorf("%d logins, %d issues, %d commits, %d closed; want %d each",
			len(r.Logins), len(r.Issues), len(r.Commits), len(r.Closes), MaxReferences)
	}
	if n := strings.Count(d.HTML(everything()), "<a "); n != MaxLinks {
		t.Errorf("%d links, want %d", n, MaxLinks)
	}
	r.Logins[0] = "changed"
	if d.References().Logins[0] != "u0" {
		t.Error("a caller can change a document through its references")
	}
}

// FuzzReferences holds the bounds, and that the same text always names the same.
func FuzzReferences(f *testing.F) {
	for _, s := range []string{"@a #1 o/r#2 0123456 o/r@0123456 fixes #3", "GH-1: closes:\t#2", "a/b@",
		"é@a/#", "@a.\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 1<<12 {
			t.Skip()
		}
		d := Parse(source)
		r := d.References()
		if !reflect.DeepEqual(r, Parse(source).References()) {
			t.Fatal("the same text names something else the second time")
		}
		for _, login := range r.Logins {
			if login == "" || len(login) > maxLogin ||
				strings.Trim(login, "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
				t.Fatalf("%q is no login", login)
			}
		}
		for _, i := range append(r.Issues, r.Closes...) {
			if i.Number < 1 || i.Owner == "" != (i.Repo == "") {
				t.Fatalf("%v is no issue", i)
			}
		}
		for _, c := range r.Commits {
			if !isSHA(c.SHA) || c.Owner == "" != (c.Repo == "") {
				t.Fatalf("%v is no commit", c)
			}
		}
		total := len(r.Logins) + len(r.Issues) + len(r.Commits)
		if total > 3*MaxReferences || len(r.Closes) > len(r.Issues) || total > len(d.spans) ||
			len(d.spans) > MaxLinks {
			t.Fatalf("%d references at %d places, %d closed", total, len(d.spans), len(r.Closes))
		}
	})
}

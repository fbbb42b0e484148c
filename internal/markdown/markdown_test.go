package markdown

import (
	"fmt"
	"strings"
	"testing"
)

// everything links whatever is named, to addresses that say what was asked for.
func everything() Links {
	return Links{
		Login: func(login string) (string, bool) { return "/" + login, true },
		Issue: func(owner, repo string, n int64) (string, string, bool) {
			return fmt.Sprintf("/i/%s/%s/%d", owner, repo, n), "", true
		},
		Commit: func(owner, repo, sha string) (string, bool) {
			return "/c/" + owner + "/" + repo + "/" + sha, true
		},
	}
}

// A reader would see raw marks, or lose structure, where one of these fails.
func TestHTML(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"empty", " \n\t\n", ""},
		{"paragraphs", "one\n\ntwo", "<p>one</p>\n<p>two</p>"},
		{"hard break", "one\ntwo", "<p>one<br>\ntwo</p>"},
		{"windows newlines", "one\r\ntwo\r\n\r\nthree", "<p>one<br>\ntwo</p>\n<p>three</p>"},
		{"emphasis", "*a* **b** ***c*** _d_",
			"<p><em>a</em> <strong>b</strong> <em><strong>c</strong></em> <em>d</em></p>"},
		{"words with underscores", "snake_case_name", "<p>snake_case_name</p>"},
		{"strikethrough", "~~gone~~ ~g~", "<p><del>gone</del> <del>g</del></p>"},
		{"code", "`a < b && @c`", "<p><code>a &lt; b &amp;&amp; @c</code></p>"},
		{"fence", "```go\nx := \"<b>\"\n```",
			`<pre><code class="language-go">x := <span class="pl-s">&#34;&lt;b&gt;&#34;</span>` + "\n</code></pre>"},
		{"fence of no known language", "```arbor\nx := 1\n```",
			"<pre><code class=\"language-arbor\">x := 1\n</code></pre>"},
		{"fence by the ending of files", "``` RS\nlet x; // y\n\n  // z\n```",
			`<pre><code class="language-RS"><span class="pl-k">let</span> x; <span class="pl-c">// y` +
				"\n\n  // z</span>\n</code></pre>"},
		{"alert", "> [!NOTE]  \n> *a*\n>\n> b", `<div class="markdown-alert markdown-alert-note">` + "\n" +
			`<p class="markdown-alert-title">Note</p>` + "\n<p><em>a</em></p>\n<p>b</p>\n</div>"},
		{"alert of blocks alone", "> [!warning]\n>\n> - a", `<div class="markdown-alert markdown-alert-warning">` + "\n" +
			`<p class="markdown-alert-title">Warning</p>` + "\n<ul>\n<li>a</li>\n</ul>\n</div>"},
		{"no alerts", "> [!NOTE]\n\n> [!NOTE] a\n> b\n\n- > [!TIP]\n  > c\n\n> [!x]\n> d",
			"<blockquote>\n<p>[!NOTE]</p>\n</blockquote>\n<blockquote>\n<p>[!NOTE] a<br>\nb</p>\n</blockquote>\n" +
				"<ul>\n<li>\n<blockquote>\n<p>[!TIP]<br>\nc</p>\n</blockquote>\n</li>\n</ul>\n" +
				"<blockquote>\n<p>[!x]<br>\nd</p>\n</blockquote>"},
		{"formulas", "a $x_1 + y_2$, $$\\sum_i - x_i$$ and $`a*b*c`$",
			`<p>a <code class="language-math math-inline">$x_1 + y_2$</code>, ` +
				"<code class=\"language-math math-display\">$$\\sum_i - x_i$$</code> and " +
				"<code class=\"language-math math-inline\">$`a*b*c`$</code></p>"},
		{"formula on lines", "$$\na < b_1\n\\\\ c_2\n$$",
			"<p><code class=\"language-math math-display\">$$\na &lt; b_1\n\\\\ c_2\n$$</code></p>"},
		{"prices and variables", "$5 and $10, $5-$10, $HOME/$USER, \\$x$, a$b$, $ x$, $x $, $$, $x$y",
			"<p>$5 and $10, $5-$10, $HOME/$USER, $x$, a$b$, $ x$, $x $, $$, $x$y</p>"},
		{"a formula in a heading and in code", "# A $x_1$\n\n`$x$`",
			`<h1 id="user-content-a-x_1">A <code class="language-math math-inline">$x_1$</code></h1>` + "\n<p><code>$x$</code></p>"},
		{"emojis", "# :rocket: Go\n\na :+1::tada:, `:x:` :no_such_thing: \\:x: 12:100:30 :100:",
			`<h1 id="user-content-rocket-go">🚀 Go</h1>` +
				"\n<p>a 👍🎉, <code>:x:</code> :no_such_thing: :x: 12:100:30 💯</p>"},
		{"footnotes", "a[^n] b[^m] c[^n] [^none]\n\n[^m]: **M**\n[^unused]: U\n[^n]: N\n\n    more",
			`<p>a<sup><a href="#user-content-fn-1-K" id="user-content-fnref-1-K" data-footnote-ref="">1</a></sup> ` +
				`b<sup><a href="#user-content-fn-2-K" id="user-content-fnref-2-K" data-footnote-ref="">2</a></sup> ` +
				`c<sup><a href="#user-content-fn-1-K" id="user-content-fnref-1-K-2" data-footnote-ref="">1</a></sup> [^none]</p>` +
				"\n" + `<section class="footnotes" data-footnotes=""><h2 class="sr-only">Footnotes</h2>` + "\n<ol>\n" +
				`<li id="user-content-fn-1-K">` + "\n<p>N</p>\n<p>more " +
				`<a href="#user-content-fnref-1-K" data-footnote-backref="" aria-label="Back to reference 1">↩</a> ` +
				`<a href="#user-content-fnref-1-K-2" data-footnote-backref="" aria-label="Back to reference 1-2">↩<sup>2</sup></a></p>` +
				"\n</li>\n" + `<li id="user-content-fn-2-K">` + "\n<p><strong>M</strong> " +
				`<a href="#user-content-fnref-2-K" data-footnote-backref="" aria-label="Back to reference 2">↩</a></p>` +
				"\n</li>\n</ol>\n</section>"},
		{"fence with class to break out", "```a\"onload=x\nx\n```", "<pre><code>x\n</code></pre>"},
		{"headings", "# A\n## B c!\n# A", `<h1 id="user-content-a">A</h1>` + "\n" +
			`<h2 id="user-content-b-c">B c!</h2>` + "\n" + `<h1 id="user-content-a-1">A</h1>`},
		{"heading of other scripts", "# Über 日本", `<h1 id="user-content-über-日本">Über 日本</h1>`},
		{"link to a heading", "[x](#a)", `<p><a href="#user-content-a">x</a></p>`},
		{"quote", "> a\n> b", "<blockquote>\n<p>a<br>\nb</p>\n</blockquote>"},
		{"lists", "- a\n- b\n\n3. c\n4. d",
			"<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<ol start=\"3\">\n<li>c</li>\n<li>d</li>\n</ol>"},
		{"rule", "a\n\n---", "<p>a</p>\n<hr>"},
		{"link", `[a](http://h/p?a=1&b=2 "t")`,
			`<p><a href="http://h/p?a=1&amp;b=2" title="t" rel="nofollow">a</a></p>`},
		{"relative link", "[a](docs/x.md)", `<p><a href="docs/x.md">a</a></p>`},
		{"reference link", "[a][r]\n\n[r]: https://h/", `<p><a href="https://h/" rel="nofollow">a</a></p>`},
		{"a host in the house",
			"http://intranet:8080/a?b=1, http://127.0.0.1:3000 (https://build-7/#x) http://",
			`<p><a href="http://intranet:8080/a?b=1" rel="nofollow">http://intranet:8080/a?b=1</a>, ` +
				`<a href="http://127.0.0.1:3000" rel="nofollow">http://127.0.0.1:3000</a> (<a href="https://build-7/#x" rel="nofollow">https://build-7/#x</a>) http://</p>`},
		{"autolinks", "http://h.com/a. <b@c.de>",
			`<p><a href="http://h.com/a" rel="nofollow">http://h.com/a</a>. ` +
				`<a href="mailto:b@c.de">b@c.de</a></p>`},
		{"image beside the file", "![a](../docs/i_1.png?raw=true)",
			`<p><img src="../docs/i_1.png?raw=true" alt="a"></p>`},
		{"image of the root, of a host, of a scheme",
			"![a](/i.png) ![b](//h/i.png) ![c](data:image/png;base64,x) ![d](x:y)", `<p>a b c d</p>`},
		{"attached image", "![a](/o/r.s/attachments/abcdefghijklmnopqrstuvwxyz)",
			`<p><img src="/o/r.s/attachments/abcdefghijklmnopqrstuvwxyz" alt="a"></p>`},
		{"no attachment", "![a](/o/r/attachments/abcdefghijklmnopqrstuvwxyz?x) ![b](/o/../attachments/abcdefghijklmnopqrstuvwxyz) ![c](/logout)", `<p>a b c</p>`},
		{"image", "![a](https://h/i.png)", `<p><img src="https://h/i.png" alt="a"></p>`},
		{"image of this site", "![a](/i.png)", "<p>a</p>"},
		{"escapes", `\*a\* &lt; &copy;`, "<p>*a* &lt; ©</p>"},
		{"tasks", "- [x] a\n- [ ] b", `<ul class="contains-task-list">` + "\n" +
			`<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled="" checked="" aria-label="Completed task"> a</li>` + "\n" +
			`<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled="" aria-label="Incomplete task"> b</li>` + "\n</ul>"},
		{"table", "|a|b|\n|-|-:|\n|1|`x\\|y`|",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n<th align=\"right\">b</th>\n</tr>\n</thead>\n" +
				"<tbody>\n<tr>\n<td>1</td>\n<td align=\"right\"><code>x|y</code></td>\n</tr>\n</tbody>\n</table>"},
		{"control characters", "a\x00b\x1bc", "<p>a\uFFFDb\uFFFDc</p>"},
		{"no UTF-8", "a\xffb", "<p>a\uFFFDb</p>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			key := string(noteKey([]byte(c.source)))
			var got string
			for range 10 { // a lexer that is read for the first time on a busy machine may run out of time
				if got = strings.ReplaceAll(Parse(c.source).HTML(Links{}), key, "K"); got == c.want {
					return
				}
			}
			t.Errorf("%q gives\n%s\nwant\n%s", c.source, got, c.want)
		})
	}
}

// What authors write as HTML stays, as at GitHub, and cannot leave its place.
func TestRawHTML(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"details", "<details open><summary>s</summary>\n\n*x*\n\n</details>",
			"<details open=\"\"><summary>s</summary>\n<p><em>x</em></p>\n</details>"},
		{"inline", "<kbd>a</kbd> x<sub>1</sub> <ins>b</ins><br/>c",
			"<p><kbd>a</kbd> x<sub>1</sub> <ins>b</ins><br>c</p>"},
		{"image size", `<img src="https://h/i" width="10" height="50%" onerror=x>`,
			`<img src="https://h/i" width="10" height="50%">`},
		{"unclosed", "<div><b>x\n\ny", "<div><b>x\n<p>y</p>\n</b></div>"},
		{"closed too often", "x</b></p></div>\n\ny", "<p>x</p>\n<p>y</p>"},
		{"crossed", "<b><i>x</b>y</i>", "<p><b><i>x</i></b>y</p>"},
		{"block in paragraph", "a <div>b</div> c", "<p>a </p><div>b</div> c"},
		{"text between cells", "<table>a<tr><td>b<td>c</table>d",
			"<table><tbody><tr><td>a</td></tr><tr><td>b</td><td>c</td></tr></tbody></table>d"},
		{"cells without a table", "<tr><td>a</td></tr>", "a"},
		{"items", "<ul><li>a<li>b<ul><li>c</ul></ul>", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"},
		{"links in links", "<a href=/x>a<a href=/y>b", `<p><a href="/x">a</a><a href="/y">b</a></p>`},
		{"a newline that HTML drops", "<pre>\nx\n</pre>\n\n<pre>\n\ny</pre>",
			"<pre>x\n</pre>\n<pre>\n\ny</pre>"},
		{"ids", `<b id="x">a</b><i id=x>b</i><a name="user-content-y">c</a>`,
			`<p><b id="user-content-x">a</b><i>b</i><a name="user-content-y">c</a></p>`},
		{"classes", `<b class="x">a</b><a class="user-mention" href="/a">@a</a>`,
			`<p><b>a</b><a href="/a">@a</a></p>`},
		{"scripts are shown", "<script>x</script> y", "&lt;script&gt;x&lt;/script&gt; y"},
		{"frames swallow nothing", "a <iframe src=x> b\n\nc", "<p>a &lt;iframe src=x&gt; b</p>\n<p>c</p>"},
		{"unknown elements", "<blink>a</blink> <my-x>b</my-x>", "<p>a b</p>"},
		{"comments", "a<!-- @b -->c", "<p>ac</p>"},
		{"inputs", "<input value=x name=y><input type=checkbox onclick=x>",
			`<p><input type="checkbox" class="task-list-item-checkbox" disabled="" aria-label="Incomplete task"></p>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			key := string(noteKey([]byte(c.source)))
			var got string
			for range 10 { // a lexer that is read for the first time on a busy machine may run out of time
				if got = strings.ReplaceAll(Parse(c.source).HTML(Links{}), key, "K"); got == c.want {
					return
				}
			}
			t.Errorf("%q gives\n%s\nwant\n%s", c.source, got, c.want)
		})
	}
}

// Links stand where GitHub puts them, with its classes, and nowhere else.
func TestLinks(t *testing.T) {
	t.Parallel()
	mention := func(l string) string {
		return `<a class="user-mention" href="/` + strings.ToLower(l) + `">@` + l + `</a>`
	}
	for source, want := range map[string]string{
		"@Alice":              mention("Alice"),
		"(@alice)":            "(" + mention("alice") + ")",
		"**@alice**":          "<strong>" + mention("alice") + "</strong>",
		"`@alice`":            "<code>@alice</code>",
		"<kbd>@alice</kbd>":   "<kbd>" + mention("alice") + "</kbd>",
		"[@alice](/x)":        `<a href="/x">@alice</a>`,
		"#7":                  `<a class="issue-link" href="/i///7">#7</a>`,
		"gh-7":                `<a class="issue-link" href="/i///7">gh-7</a>`,
		"O/r#7":               `<a class="issue-link" href="/i/o/r/7">O/r#7</a>`,
		"0123abc":             `<a class="commit-link" href="/c///0123abc"><tt>0123abc</tt></a>`,
		"o/R@0123abcdef":      `<a class="commit-link" href="/c/o/r/0123abcdef">o/R@<tt>0123abc</tt></a>`,
		"&#64;alice &#35;7":   mention("alice") + ` <a class="issue-link" href="/i///7">#7</a>`,
		"a &amp; @b &lt; #7c": "a &amp; " + mention("b") + " &lt; #7c",
	} {
		if got := Parse(source).HTML(everything()); got != "<p>"+want+"</p>" {
			t.Errorf("%q gives\n%s\nwant\n<p>%s</p>", source, got, want)
		}
	}
}

// A reader must not learn of what it may not see, and a page must not pay twice.
func TestLinksAskOnce(t *testing.T) {
	t.Parallel()
	asked := 0
	d := Parse("@a @b @A #1 #1")
	got := d.HTML(Links{Login: func(login string) (string, bool) {
		asked++
		return `/"<` + login, login == "a"
	}})
	want := `<p><a class="user-mention" href="/&#34;&lt;a">@a</a> @b <a class="user-mention" href="/&#34;&lt;a">@A</a> #1 #1</p>`
	if got != want || asked != 2 {
		t.Errorf("asked %d times and gave\n%s\nwant 2 times and\n%s", asked, got, want)
	}
	got = d.HTML(Links{Issue: func(_, _ string, n int64) (string, string, bool) {
		return "/i", `a "<b>"`, true
	}})
	if !strings.Contains(got, `<a class="issue-link" href="/i" title="a &#34;&lt;b&gt;&#34;">#1</a>`) {
		t.Errorf("an issue's title is not escaped: %s", got)
	}
}

// body_text is what scripts and mails show.
func TestText(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"":                                     "",
		"a *b* [c](/d) `e`":                    "a b c e",
		"one\ntwo\n\nthree":                    "one\ntwo\n\nthree",
		"# T\ntext":                            "T\n\ntext",
		"- a\n- b\n\nc":                        "a\nb\n\nc",
		"- [x] a":                              "a",
		"> q\n\nr":                             "q\n\nr",
		"```\nx  y\n\n  z\n```\nend":           "x  y\n\n  z\n\nend",
		"|a|b|\n|-|-|\n|1|2|":                  "a\tb\n1\t2",
		"![alt](https://h/i)":                  "alt",
		"a &lt;b&gt; <b>c</b>":                 "a <b> c",
		"x <script>y</script>":                 "x <script>y</script>",
		"<details><summary>s</summary>\n\nt\n": "s\n\nt",
		"@alice #7":                            "@alice #7",
	} {
		if got := Parse(source).Text(); got != want {
			t.Errorf("%q gives %q, want %q", source, got, want)
		}
	}
}

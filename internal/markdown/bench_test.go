package markdown

import (
	"strings"
	"testing"
)

// comment is what a busy pull request holds a hundred of.
const comment = "Thanks @alice, this fixes #12 (see also octo/hello#7 and 0123abcd).\n\n" +
	"- [x] `Parse` handles **nested** lists\n- [ ] [docs](https://example.com/docs?a=b) need an update\n\n" +
	"```go\nfunc main() { fmt.Println(\"hi\") }\n```\n\n> quoted, with a [link](https://example.com/)\n\n" +
	"| a | b |\n|---|---|\n| 1 | 2 |\n\nWhat do you think? <details><summary>log</summary>\n\nok\n\n</details>\n"

func BenchmarkParse(b *testing.B) {
	for name, source := range map[string]string{"line": "Looks good to me, @alice!", "comment": comment,
		"64KiB": strings.Repeat(comment, 64<<10/len(comment))} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(source)
			}
		})
	}
}

func BenchmarkHTML(b *testing.B) {
	d, l := Parse(comment), everything()
	b.ReportAllocs()
	for b.Loop() {
		d.HTML(l)
	}
}

func BenchmarkText(b *testing.B) {
	d := Parse(comment)
	b.ReportAllocs()
	for b.Loop() {
		d.Text()
	}
}

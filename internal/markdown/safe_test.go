package markdown

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// safeElements and safeAttrs are written out again here, on purpose: what is
// added to the policy by mistake fails the tests.
const (
	safeElements = " a abbr b bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2" +
		" h3 h4 h5 h6 hr i img input ins kbd li mark ol p pre q rp rt ruby s samp section small span strike strong sub summary sup" +
		" table tbody td tfoot th thead time tr tt ul var wbr "
	safeAttrs = " align alt aria-label checked cite class colspan data-footnote-backref data-footnote-ref data-footnotes datetime dir disabled height href id lang name open rel reversed" +
		" rowspan scope src start title type value width "
	safeClasses = " task-list-item contains-task-list task-list-item-checkbox markdown-alert-title footnotes sr-only "
	safeAlerts  = " note tip important warning caution "
)

// check reports what an HTML parser finds in a body that must not be there, and
// whether the parser's tree is another than the one that was written. Links are
// expected to have been made for nothing.
func check(out string) error {
	tree, err := parseBody(out)
	if err != nil {
		return err
	}
	var problem error
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if err := checkNode(n); err != nil && problem == nil {
			problem = err
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	for c := tree.FirstChild; c != nil; c = c.NextSibling {
		walk(c)
	}
	if problem != nil {
		return problem
	}
	var again strings.Builder
	for c := tree.FirstChild; c != nil; c = c.NextSibling {
		if err := html.Render(&again, c); err != nil {
			return err
		}
	}
	if got, want := tags(again.String()), tags(out); got != want {
		return fmt.Errorf("a browser repairs it to %q", got)
	}
	return nil
}

// tags writes HTML in one way: package html orders attributes as it likes.
func tags(s string) string {
	var all strings.Builder
	for z := html.NewTokenizer(strings.NewReader(s)); z.Next() != html.ErrorToken; {
		t := z.Token()
		slices.SortFunc(t.Attr, func(a, b html.Attribute) int { return strings.Compare(a.Key, b.Key) })
		if t.Type == html.SelfClosingTagToken {
			t.Type = html.StartTagToken
		}
		all.WriteString(t.String())
	}
	return all.String()
}

func parseBody(out string) (*html.Node, error) {
	div := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(strings.NewReader(out), div)
	for _, n := range nodes {
		div.AppendChild(n)
	}
	return div, err
}

func checkNode(n *html.Node) error {
	switch n.Type {
	case html.TextNode:
		return nil
	case html.ElementNode:
	default:
		return fmt.Errorf("a node of type %d: %q", n.Type, n.Data)
	}
	if n.Namespace != "" || !strings.Contains(safeElements, " "+n.Data+" ") {
		return fmt.Errorf("the element %q", n.Data)
	}
	for i, a := range n.Attr {
		if a.Namespace != "" || !strings.Contains(safeAttrs, " "+a.Key+" ") {
			return fmt.Errorf("the attribute %q of %q", a.Key, n.Data)
		}
		if slices.ContainsFunc(n.Attr[:i], func(o html.Attribute) bool { return o.Key == a.Key }) {
			return fmt.Errorf("the attribute %q twice", a.Key)
		}
		if err := checkAttr(n, a); err != nil {
			return err
		}
	}
	if n.Data == "input" && (attr(n.Attr, "type") != "checkbox" ||
		!strings.Contains(fmt.Sprint(n.Attr), "disabled")) {
		return fmt.Errorf("an input that takes something: %v", n.Attr)
	}
	return nil
}

var spanClass = regexp.MustCompile(`^pl-[a-z0-9]+$`)

func checkAttr(n *html.Node, a html.Attribute) error {
	bad := fmt.Errorf("%s=%q of %q", a.Key, a.Val, n.Data)
	switch a.Key {
	case "href", "src", "cite":
		u, err := url.Parse(a.Val)
		schemes := " http https "
		if a.Key == "href" {
			schemes = "  http https mailto "
		}
		// beside the file, or attached
		if n.Data == "img" && err == nil && u.Host == "" && (!strings.HasPrefix(a.Val, "/") ||
			IsAttachment(a.Val)) {
			schemes = "  http https "
		}
		if err != nil || !strings.Contains(schemes, " "+u.Scheme+" ") {
			return bad
		}
		if a.Key == "href" && u.Host != "" && attr(n.Attr, "rel") != "nofollow" {
			return bad
		}
	case "id", "name":
		if !strings.HasPrefix(a.Val, prefix) {
			return bad
		}
	case "class":
		if kind, ok := strings.CutPrefix(a.Val, "markdown-alert markdown-alert-"); ok && n.Data == "div" &&
			strings.Contains(safeAlerts, " "+kind+" ") || n.Data == "span" && spanClass.MatchString(a.Val) {
			return nil
		}
		if !strings.Contains(safeClasses, " "+a.Val+" ") &&
			!(n.Data == "code" && strings.HasPrefix(a.Val, "language-")) {
			return bad
		}
	}
	return nil
}

// A body that is executed in a reader's browser takes over the reader's account.
func TestNoScript(t *testing.T) {
	t.Parallel()
	for _, source := range slices.Concat(payloads, wrapped()) {
		out := Parse(source).HTML(Links{})
		if err := check(out); err != nil {
			t.Errorf("%q gives %q, with %v", source, out, err)
		}
	}
}

// wrapped puts every payload where another parser's rules might let it out.
func wrapped() []string {
	var all []string
	for _, p := range payloads {
		for _, w := range []string{
			"|a|b|\n|-|-|\n|%s|c|", "- [ ] %s\n  - x", "> # %s", "[%s](http://h)", "![%s](http://h)",
			"[a](%s)", "![a](%s)", "<%s>",
			"[a]: %s \"%[1]s\"\n\n[a] ![a]", "<a href=\"%s\">x</a>", "<img src='%s' alt=\"%[1]s\">", "`%s`",
			"```%s\n%[1]s\n```",
			"<table>%s<td>%[1]s", "<pre>%s", "<details><summary>%s", "**%s*", "<div title='%s'>",
			"<svg><style>%s", "x %s @a #1\n\n%[1]s",
		} {
			all = append(all, fmt.Sprintf(w, p))
		}
	}
	return all
}

// The element list of the policy and the rules by which tags are balanced must
// know the same elements, or content disappears.
func TestElements(t *testing.T) {
	t.Parallel()
	for _, tag := range allowed {
		if traits(tag) == 0 {
			t.Errorf("%q is allowed, but not balanced", tag)
		}
	}
	if got := " " + strings.Join(allowed[:], " ") + " "; got != safeElements {
		t.Errorf("allowed are%s", got)
	}
}

// FuzzHTML looks for a body that gets out, or that a browser would repair.
func FuzzHTML(f *testing.F) {
	for _, p := range payloads {
		f.Add(p)
	}
	for _, s := range []string{"<table><a>x<tr><td><a>y<table>z</a>", "<ruby>a<rt>b<rp>c<li>d</ruby>",
		"<li><p><li><dd><dt><h1><h2>", "- [x] a\n\n|a|\n|-|\n|<p>|", "<pre>\n\n<pre>\n<b>",
		"<a><p><b><a><div></b></a>", "> [!NOTE]\n> a\n\n> [!tip]\n\n> [!CAUTION]\n> - [ ] b\n>\n> [^c]\n\n[^c]: [^c] d",
		"a[^1]![^1]\n\n[^1]: - x\n\n    > [^2]\n\n[^2]: [^1]\n", ":+1: :x::a: `:x:` 1:100:2 [:de:](:x:)",
		"```go\nfunc <b>() { `x` }\n```\n\n~~~html\n<p id=a>&amp;\n~~~", "<section class=footnotes><li id=fn-1>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 1<<12 {
			t.Skip()
		}
		d := Parse(source)
		if err := check(d.HTML(Links{})); err != nil {
			t.Fatalf("%q: %v", d.HTML(Links{}), err)
		}
		isDense := len(d.html) > maxHTML(len(source)) && !strings.HasPrefix(d.html, "<pre>")
		if isDense || len(d.Text()) > 3*len(source) {
			t.Fatalf("%d bytes become %d, as plain text %d", len(source), len(d.html), len(d.Text()))
		}
		linked, err := parseBody(d.HTML(everything()))
		if err != nil || strings.TrimSpace(words(linked)) == "" && strings.TrimSpace(d.Text()) != "" &&
			!strings.Contains(d.html, "<img") {
			t.Fatalf("links lose text: %v", err)
		}
	})
}

// words returns the text of a tree.
func words(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var all strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		all.WriteString(words(c))
	}
	return all.String()
}

package issues_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// Whatever somebody writes into a tracker, a browser that shows it runs nothing:
// the whole corpus, as issue and as comment, in both forms that hold HTML, in
// lists and alone.
func TestStoredScripts(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		on := issuetest.File(t, s, "will", "garden/plot")
		for _, payload := range corpus {
			payload = strings.ReplaceAll(payload, "\x00", "") // a NUL is refused
			for _, text := range []string{payload, "> - " + payload + "\n\n" + payload,
				"|a|\n|-|\n|" + payload + "|"} {
				body := quoted(t, text)
				var made struct {
					Body string `json:"body"`
					HTML string `json:"body_html"`
				}
				s.Check(t, apitest.Case{Do: "POST " + on + "/comments", As: "sam",
					Headers: issuetest.Media("v3.full"), Send: `{"body": ` + body + `}`,
					Status: 201}).JSON(t, &made)
				if made.Body != text {
					t.Errorf("%q was stored as %q", text, made.Body)
				}
				if err := harmless(made.HTML); err != nil {
					t.Errorf("%q gives %q: %v", text, made.HTML, err)
				}
			}
			s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/issues", As: "sam",
				Send: `{"title": "x", "body": ` + quoted(t, payload) + `}`, Status: 201})
		}
		for _, path := range []string{"/repos/garden/plot/issues?per_page=100",
			"/repos/garden/plot/issues?per_page=100&page=2", on + "/comments?per_page=100",
			on + "/timeline?per_page=100"} {
			for _, kind := range []string{"v3.html", "v3.full"} {
				a := s.Check(t, apitest.Case{Do: "GET " + path, Headers: issuetest.Media(kind), Status: 200,
					Has: map[string]string{"X-Content-Type-Options": "nosniff"}})
				shown := 0
				for _, body := range htmlOf(t, a) {
					shown++
					if err := harmless(body); err != nil {
						t.Errorf("%s: %q: %v", path, body, err)
					}
				}
				if shown == 0 {
					t.Errorf("%s shows nothing", path)
				}
			}
		}
	})
}

// A check that finds nothing in the corpus as it is would show nothing above.
func TestCorpusIsHarmful(t *testing.T) {
	t.Parallel()
	found := 0
	for _, payload := range corpus {
		if harmless(payload) != nil {
			found++
		}
	}
	if found < 60 {
		t.Errorf("of %d texts %d would do harm as HTML", len(corpus), found)
	}
}

// Names go where bodies do: an issue's title stands in each link to it. Answers
// that hold names say that they are JSON and nothing else.
func TestStoredNames(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		for n, name := range names {
			name := quoted(t, name)
			var filed struct{ Number int }
			s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/milestones", As: "will",
				Send: `{"title": ` + name + `, "description": ` + name + `}`, Status: 201,
				Want: `{"title": ` + name + `}`})
			s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/issues", As: "will", Status: 201,
				Want: `{"title": ` + name + `, "labels": [{"name": ` + name + `}]}`,
				Send: fmt.Sprintf(`{"title": %s, "labels": [%[1]s], "milestone": %d}`, name, n+1)}).JSON(t,
				&filed)
			a := s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/issues", As: "sam",
				Headers: issuetest.Media("v3.full"), Status: 201,
				Send: fmt.Sprintf(`{"title": "x", "body": "See #%d, [it](#x) and garden/plot#%[1]d"}`,
					filed.Number)})
			for _, body := range htmlOf(t, a) {
				if err := harmless(body); err != nil ||
					!strings.Contains(body, fmt.Sprintf("/garden/plot/issues/%d", filed.Number)) {
					t.Errorf("a link to an issue with the title %s: %q: %v", name, body, err)
				}
			}
			var label struct{ URL string }
			at := fmt.Sprintf("/repos/garden/plot/issues/%d", filed.Number)
			var list []json.RawMessage
			s.Check(t, apitest.Case{Do: "GET " + at + "/labels", Status: 200}).JSON(t, &list)
			testkit.NoError(t, json.Unmarshal(list[0], &label))
			s.Check(t, apitest.Case{Do: "GET " + strings.TrimPrefix(label.URL, s.URL), Status: 200,
				Want: `{"name": ` + name + `}`})
		}
		json := map[string]string{"Content-Type": "application/json; charset=utf-8",
			"X-Content-Type-Options": "nosniff"}
		for do, status := range map[string]int{"issues": 200, "issues/1": 200, "labels": 200,
			"milestones": 200, "milestones/1": 200, "issues/events": 200, "issues/1/timeline": 200,
			"issues/1/labels": 200, "issues?state=%3Cscript%3E": 422, "labels/%3Cscript%3E": 404,
			"issues/%3Cscript%3E": 404, "milestones/1/labels": 200} {
			for _, accept := range []string{"text/html,application/xhtml+xml,*/*;q=0.8", "*/*"} {
				s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/" + do,
					Headers: map[string]string{"Accept": accept}, Status: status, Has: json})
			}
		}
	})
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	testkit.NoError(t, err)
	return string(b)
}

// htmlOf finds each body_html in an answer, at any depth.
func htmlOf(t *testing.T, a *apitest.Answer) (found []string) {
	t.Helper()
	var all any
	a.JSON(t, &all)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if body, ok := v["body_html"].(string); ok {
				found = append(found, body)
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(all)
	return found
}

// harmless reports what in the tree that a browser makes of a body could run,
// load or disguise something.
func harmless(body string) error {
	nodes, err := html.ParseFragment(strings.NewReader(body),
		&html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	for _, n := range nodes {
		if err == nil {
			err = harmlessNode(n)
		}
	}
	return err
}

func harmlessNode(n *html.Node) error {
	if n.Type != html.ElementNode && n.Type != html.TextNode || n.Namespace != "" {
		return fmt.Errorf("a node of type %d in %q: %q", n.Type, n.Namespace, n.Data)
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Iframe, atom.Object, atom.Embed, atom.Applet, atom.Svg, atom.Math,
		atom.Form, atom.Button, atom.Base, atom.Link, atom.Meta, atom.Template,
		atom.Noscript, atom.Frame, atom.Frameset, atom.Video, atom.Audio, atom.Source, atom.Textarea,
		atom.Select, atom.Title, atom.Plaintext, atom.Dialog, atom.Marquee:
		return fmt.Errorf("the element %s", n.Data)
	case atom.Input:
		if !strings.Contains(fmt.Sprint(n.Attr), "checkbox") ||
			!strings.Contains(fmt.Sprint(n.Attr), "disabled") {
			return fmt.Errorf("an input: %v", n.Attr)
		}
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "data-canonical-src" && n.DataAtom == atom.Img: // the address that the proxy fetches
		case strings.HasPrefix(a.Key, "on"), strings.HasPrefix(a.Key, "data-"),
			strings.HasPrefix(a.Key, "form"), a.Namespace != "":
			return fmt.Errorf("the attribute %s of %s", a.Key, n.Data)
		}
		switch a.Key {
		case "style", "srcset", "srcdoc", "ping", "target", "action", "background", "poster", "autofocus",
			"tabindex", "contenteditable":
			return fmt.Errorf("the attribute %s of %s", a.Key, n.Data)
		case "href", "src", "cite":
			u, err := url.Parse(strings.TrimSpace(a.Val))
			if err != nil || !strings.Contains("  http https mailto ", " "+u.Scheme+" ") {
				return fmt.Errorf("the address %q", a.Val)
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if err := harmlessNode(c); err != nil {
			return err
		}
	}
	return nil
}

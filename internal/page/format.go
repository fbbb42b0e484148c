package page

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"arbor/internal/web"
)

// functions are what templates may call.
func functions() template.FuncMap {
	return template.FuncMap{
		"when":    when,
		"moment":  moment,
		"bytes":   Bytes,
		"compact": compact,
		"path":    web.Path,
		"files":   filePath,
		"query":   func(s string) template.URL { return template.URL(url.QueryEscape(s)) }, // escaped once
		"short":   Short,
		"lower":   strings.ToLower,
		"join":    strings.Join,
		"add":     func(a, b int) int { return a + b },
		"plural":  plural,
		"color":   color,
		"dict":    dict,
		"list":    func(texts ...string) []string { return texts },
		"clip":    func(s string, size int) string { return Clip(s, size).Text },
		"term":    Term,
	}
}

// plural is a number with its noun: "1 commit", "2 commits".
func plural(n any, noun string) string {
	number := fmt.Sprint(n)
	switch {
	case number == "1":
		return "1 " + noun
	case strings.HasSuffix(noun, "ch") || strings.HasSuffix(noun, "s"):
		return number + " " + noun + "es"
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ey"):
		return number + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return number + " " + noun + "s"
}

// Bytes is a size as people read it: "1.5 KiB".
func Bytes(n int64) string {
	if n < 1024 {
		return plural(n, "byte")
	}
	size := float64(n)
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		if size /= 1024; size < 1024 || unit == "GiB" {
			return strconv.FormatFloat(size, 'f', 1, 64) + " " + unit
		}
	}
	return ""
}

// compact is a number in few characters: "1.2k".
func compact(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	if n < 1_000_000 {
		return strings.TrimSuffix(strconv.FormatFloat(float64(n/100)/10, 'f', 1, 64), ".0") + "k"
	}
	return strings.TrimSuffix(strconv.FormatFloat(float64(n/100_000)/10, 'f', 1, 64), ".0") + "M"
}

// filePath is the path of a file below a ref, escaped segment by segment: "/main/a%20b/c".
func filePath(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p != "" {
			b.WriteString(web.Path(strings.Split(p, "/")...))
		}
	}
	return b.String()
}

// Short is the beginning of a SHA that people read.
func Short(sha string) string { return sha[:min(len(sha), 7)] }

// color is a label's color as SVG takes it; anything else is grey.
func color(hex string) string {
	if len(hex) != 6 || strings.Trim(strings.ToLower(hex), "0123456789abcdef") != "" {
		return "#808080"
	}
	return "#" + hex
}

// dict returns a map of alternating names and values, for templates with several parameters.
func dict(pairs ...any) map[string]any {
	m := make(map[string]any, len(pairs)/2)
	for n := 0; n+1 < len(pairs); n += 2 {
		m[pairs[n].(string)] = pairs[n+1]
	}
	return m
}

// Term is a qualifier of a search; the value is quoted if it must be.
func Term(name, value string) string {
	if value == "" || strings.ContainsAny(value, " \t\",()\\:") {
		value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
	}
	return name + ":" + value
}

// Clipped is the beginning of a text that may be too long to show.
type Clipped struct {
	Text string
	Cut  bool
}

// Clip cuts a text to at most size bytes, between characters.
func Clip(text string, size int) Clipped {
	if len(text) <= size {
		return Clipped{Text: text}
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return Clipped{text[:size], true}
}

// WebAddress is an address that people gave, when it is one that a browser may safely follow; else empty.
func WebAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.String()
}

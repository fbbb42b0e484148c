package reply

import (
	"slices"
	"strings"
)

// Own is the part of a text that its author wrote: without the signature, and without the quoted mail at its end. Quotes
// between which the author answers stay.
func Own(text string) string {
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		if line == "-- " || line == "--" || begins(line) {
			lines = lines[:n]
			break
		}
	}
	end := len(lines)
	quoted := false
	for ; end > 0; end-- {
		line := strings.TrimSpace(lines[end-1])
		if line != "" && !strings.HasPrefix(line, ">") {
			break
		}
		quoted = quoted || line != ""
	}
	lines = lines[:end]
	if quoted {
		lines = withoutIntroduction(lines)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// begins reports whether a line begins what programs put below a reply without quoting it.
func begins(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= 20 && strings.Trim(line, "_") == "" ||
		strings.HasPrefix(line, "-----") && strings.HasSuffix(line, "-----") && len(line) > 14 && strings.Contains(line, " ")
}

// maxIntroduction is how many lines say who wrote what is quoted.
const maxIntroduction = 3

// withoutIntroduction removes the paragraph above a quote that says who wrote it, and when: "On ... wrote:". It ends with a
// colon, in all languages, and has a number or an address.
func withoutIntroduction(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	last := strings.TrimSpace(lines[len(lines)-1])
	if !strings.HasSuffix(last, ":") && !strings.HasSuffix(last, "：") {
		return lines
	}
	from := len(lines) - 1
	for from > 0 && strings.TrimSpace(lines[from-1]) != "" {
		from--
	}
	part := lines[from:]
	if len(part) > maxIntroduction || !slices.ContainsFunc(part, func(line string) bool {
		return strings.ContainsAny(line, "@0123456789")
	}) {
		return lines
	}
	return lines[:from]
}

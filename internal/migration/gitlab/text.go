package gitlab

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"arbor/internal/migration"
)

// texts finds in texts what has another name here: references to merge requests and to issues with other
// numbers, addresses of pages of the project, and files. Addresses get the form of GitHub's with the same
// beginning, which the importer then rewrites to addresses here. Code is left alone.
type texts struct {
	s       *Source
	links   *regexp.Regexp
	refs    *regexp.Regexp
	uploads *regexp.Regexp
	to      string // begins addresses of attachments
}

// notAddress is what no address in a text contains.
const notAddress = "\\s()<>\\[\\]\"'`"

func newTexts(s *Source, about *migration.Repository) *texts {
	path := regexp.QuoteMeta(s.about.Path)
	name := regexp.QuoteMeta(s.about.Path[strings.LastIndexByte(s.about.Path, '/')+1:])
	id := strconv.FormatInt(s.about.ID, 10)
	own := "(?:" + path + "|" + name + ")?"
	begin := "(?:(?:" + regexp.QuoteMeta(s.Base.String()) + ")?/(?:" + path + "|-/project/" + id + "))?"
	file := "([^" + notAddress + "]*[^" + notAddress + ".,:;!?*])"
	return &texts{s: s, to: "/" + about.Name + "/attachments/",
		links:   regexp.MustCompile(regexp.QuoteMeta(about.Source) + `(/[^` + notAddress + `]*)`),
		refs:    regexp.MustCompile("(^|[^0-9A-Za-z_/.!#&\\[\\\\-])" + own + `([!#])([1-9][0-9]{0,12})\b`),
		uploads: regexp.MustCompile("(^|[\\s()<>\\[\\]\"'=])" + begin + "/uploads/([0-9a-f]{32})/" + file),
	}
}

// imageSize is what GitLab takes behind an image: {width=100}.
var imageSize = regexp.MustCompile(`(!\[[^\]\n]*\]\([^)\n]*\))\{(?:width|height)[^}\n]*\}`)

// text returns a text by somebody as it is to be here, and writes the files that it names.
func (s *Source) text(ctx context.Context, text, author string) (out string, err error) {
	if !strings.ContainsAny(text, "/!#") {
		return text, nil
	}
	t := s.texts
	out = migration.OutsideCode(text, func(part string) string {
		if strings.Contains(part, "/uploads/") {
			part = t.uploads.ReplaceAllStringFunc(part, func(found string) string {
				m := t.uploads.FindStringSubmatch(found)
				key, bad := s.attach(ctx, m[2], m[3], author)
				if bad != nil {
					err = bad
				}
				if key == "" {
					return found
				}
				return m[1] + t.to + key
			})
			part = imageSize.ReplaceAllString(part, "$1")
		}
		part = t.links.ReplaceAllStringFunc(part, func(found string) string {
			m := t.links.FindStringSubmatch(found)
			return strings.TrimSuffix(found, m[1]) + t.page(m[1])
		})
		return t.refs.ReplaceAllStringFunc(part, t.reference)
	})
	return out, err
}

// reference returns the new form of !12 or #7; with the project before it, the short one.
func (t *texts) reference(found string) string {
	m := t.refs.FindStringSubmatch(found)
	if n := t.s.numbers[strings.TrimPrefix(m[2], "#")+m[3]]; n != 0 {
		return m[1] + "#" + strconv.FormatInt(n, 10)
	}
	return found
}

var (
	numbered = regexp.MustCompile(`^/(issues|work_items|merge_requests)/([1-9][0-9]{0,12})(?:[/?#].*?)?([.,:;!?*_]*)$`)
	tagged   = regexp.MustCompile(`^/(?:releases|tags)/([^/?#]+)$`)
)

// page returns the path here of a page of the project.
func (t *texts) page(path string) string {
	path = strings.TrimPrefix(path, "/-")
	if m := numbered.FindStringSubmatch(path); m != nil {
		key, kind := m[2], "/issues/"
		if m[1] == "merge_requests" {
			key, kind = "!"+m[2], "/pull/"
		}
		if n := t.s.numbers[key]; n != 0 {
			return kind + strconv.FormatInt(n, 10) + m[3]
		}
	}
	if m := tagged.FindStringSubmatch(path); m != nil {
		return "/releases/tag/" + m[1]
	}
	return path
}

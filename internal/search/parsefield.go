package search

import (
	"slices"
	"strings"

	"arbor/internal/posting"
)

// field puts a qualifier where it belongs; false when it belongs nowhere.
func (p *parser) field(name, value string, list []string, not bool) bool {
	folded := strings.ToLower(value)
	switch name {
	case "org":
		name = "user"
	case "review":
		return p.choose(name, folded, not, reviews())
	case "status":
		return p.choose(name, folded, not, statuses())
	case "linked":
		return p.choose(name, folded, not, links())
	case "reason":
		return p.choose(name, strings.NewReplacer("_", " ", "-", " ").Replace(folded), not, reasons())
	case "is", "type", "state":
		return p.is(name, folded, not)
	case "draft", "archived":
		return p.truth(name, folded, not)
	case "no":
		return p.has(folded, !not)
	case "in":
		return !not && p.in(list)
	case "sort":
		return !not && p.sort(folded)
	case "label":
		if value == "*" {
			return p.has("label", not)
		}
		p.values += len(list)
		p.q.Labels = append(p.q.Labels, LabelSet{list, not})
		return true
	case "assignee", "milestone":
		if value == "*" {
			return p.has(name, not)
		}
	case "repo", "team", "team-review-requested":
		if owner, repo, ok := strings.Cut(value, "/"); !ok || owner == "" || repo == "" {
			return false
		}
	}
	return p.choice(name, value, not) || p.span(name, value, not)
}

// choice adds a value to a field that accepts any; false if the field does not exist.
func (p *parser) choice(name, value string, not bool) bool {
	for _, f := range choices() {
		if f.name == name {
			p.values++
			list := &f.of(p.q).Yes
			if not {
				list = &f.of(p.q).No
			}
			if !slices.Contains(*list, value) { // each is looked up for each issue
				*list = append(*list, value)
			}
			return true
		}
	}
	return false
}

// choose is choice for a field that holds only some values.
func (p *parser) choose(name, value string, not bool, values map[string]posting.Expr) bool {
	_, known := values[value]
	return known && p.choice(name, value, not)
}

func (p *parser) span(name, value string, not bool) bool {
	for _, f := range spans() {
		if f.name != name {
			continue
		}
		span, ok := f.read(value)
		s := f.of(p.q)
		switch {
		case !ok:
		case not:
			p.values++
			s.Not = append(s.Not, span)
		case !s.Asked:
			s.Asked, s.In = true, span
		default:
			s.In = Span{max(s.In.From, span.From), min(s.In.To, span.To)}
		}
		return ok
	}
	return false
}

// answer is Yes for a qualifier that says so and is not negated.
func answer(yes, not bool) Flag {
	if yes != not {
		return Yes
	}
	return No
}

// is reads is:, type: and state:. What only pull requests can be, an issue that
// is none is not; so negated it says nothing of being one.
func (p *parser) is(name, value string, not bool) bool {
	kind := value == "issue" || value == "pr" || value == "pull-request"
	state := value == "open" || value == "closed"
	if name == "type" && !kind || name == "state" && !state {
		return false
	}
	q := p.q
	switch value {
	case "issue", "pr", "pull-request":
		q.Pull |= answer(value != "issue", not)
	case "open", "closed":
		q.Open |= answer(value == "open", not)
	case "locked", "unlocked":
		q.Locked |= answer(value == "locked", not)
	case "public", "private":
		q.Public |= answer(value == "public", not)
	case "archived":
		q.Archived |= answer(true, not)
	case "draft", "merged":
		f := map[string]*Flag{"draft": &q.Draft, "merged": &q.Merged}[value]
		*f |= answer(true, not)
		if !not {
			q.Pull |= Yes
		}
	case "unmerged":
		if not {
			return false
		}
		q.Pull |= Yes
		q.Merged |= No
	default:
		return false
	}
	return true
}

func (p *parser) truth(name, value string, not bool) bool {
	f := map[string]*Flag{"draft": &p.q.Draft, "archived": &p.q.Archived}[name]
	*f |= answer(value == "true", not)
	return value == "true" || value == "false"
}

func (p *parser) has(what string, no bool) bool {
	f := map[string]*Flag{"label": &p.q.Labeled, "assignee": &p.q.Assigned,
		"milestone": &p.q.Milestoned}[what]
	if f == nil {
		return false
	}
	*f |= answer(true, no)
	return true
}

func (p *parser) in(list []string) bool {
	for _, name := range list {
		at := slices.IndexFunc(parts(), func(f partField) bool { return f.name == strings.ToLower(name) })
		if at < 0 {
			return false
		}
		p.q.In |= parts()[at].part
	}
	return true
}

func (p *parser) sort(value string) bool {
	name, asc := strings.CutSuffix(value, "-asc")
	if !asc {
		name = strings.TrimSuffix(name, "-desc")
	}
	if name == "relevance" {
		name = BestMatch.String()
	}
	by, ok := ParseBy(name)
	p.top = Sort{by, asc && by != BestMatch}
	return ok
}

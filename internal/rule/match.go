package rule

import (
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/team"
)

// place is where rulesets apply: a repository.
type place struct {
	name          string
	defaultBranch string
	defaultTip    git.SHA // empty: there is no such branch
	owner         account.ID
	noSquash      bool // the repository allows no squash
}

// applies reports whether a ruleset applies to the ref of a full name.
func (r *Ruleset) applies(at place, ref string) bool {
	if !r.appliesIn(at.name) {
		return false
	}
	branch, isBranch := strings.CutPrefix(ref, git.Heads)
	switch {
	case r.Target == Branches && !isBranch, r.Target == Tags && !strings.HasPrefix(ref, git.Tags):
		return false
	case r.Protection:
		return matchName(r.Name, branch)
	case r.Target == AllRefs:
		return true
	}
	return r.Refs.match(at, ref)
}

// appliesIn reports whether a ruleset applies to refs of a repository, by its name in any case.
func (r *Ruleset) appliesIn(name string) bool {
	if r.Repos == nil {
		return true
	}
	name = account.Fold(name)
	is := func(pattern string) bool { return pattern == allNames || matchName(account.Fold(pattern), name) }
	return slices.ContainsFunc(r.Repos.Include, is) && !slices.ContainsFunc(r.Repos.Exclude, is)
}

// match reports whether a name is included and not excluded.
func (n *Names) match(at place, name string) bool {
	is := func(pattern string) bool {
		switch pattern {
		case allNames:
			return true
		case defaultBranch:
			return name == git.Heads+at.defaultBranch
		}
		return matchName(pattern, name)
	}
	return slices.ContainsFunc(n.Include, is) && !slices.ContainsFunc(n.Exclude, is)
}

// patterns counts the patterns of a ruleset.
func (r *Ruleset) patterns() int {
	n := 1 + len(r.Refs.Include) + len(r.Refs.Exclude)
	if r.Repos != nil {
		n += len(r.Repos.Include) + len(r.Repos.Exclude)
	}
	return n
}

// rulebook is the rulesets of a repository and of the organization that owns it, without disabled ones.
type rulebook struct {
	place
	sets  []*Ruleset
	state string // names the rulesets and their versions
}

func newRulebook(at place, sets []*Ruleset) *rulebook {
	b := &rulebook{place: at}
	var state strings.Builder
	for _, r := range sets {
		if r.Enforcement == Disabled {
			continue
		}
		b.sets = append(b.sets, r)
		state.WriteString(strconv.FormatInt(r.ID, 36) + "." + strconv.FormatInt(r.Version, 36) + " ")
	}
	// Names decide, too: a repository that is renamed or has another default branch has other rules.
	state.WriteString(at.name + " " + at.defaultBranch)
	b.state = state.String()
	return b
}

// on returns the rulesets that apply to a ref. Of several protections only one counts, as at GitHub: the one
// that names the branch exactly, else the oldest.
func (b *rulebook) on(ref string) []*Ruleset {
	var list []*Ruleset
	var protection *Ruleset
	for _, r := range b.sets {
		switch {
		case !r.applies(b.place, ref):
		case !r.Protection:
			list = append(list, r)
		case protection == nil, isPattern(protection.Name) && !isPattern(r.Name):
			protection = r
		}
	}
	if protection != nil {
		list = append(list, protection)
	}
	return list
}

// teams are the teams that the rulesets and protections name.
func (b *rulebook) teams() (ids []team.ID) {
	for _, r := range b.sets {
		for _, a := range r.Bypass {
			if a.Type == ByTeam {
				ids = append(ids, team.ID(a.ID))
			}
		}
		for _, rule := range r.Rules {
			switch p := rule.Parameters.(type) {
			case *PushersRule:
				ids = append(ids, p.Teams...)
			case *ForcePushersRule:
				ids = append(ids, p.Teams...)
			case *PullRequestRule:
				if p.Exempt != nil {
					ids = append(ids, p.Exempt.Teams...)
				}
			}
		}
	}
	return ids
}

// matches is how many patterns are compared to find the rulesets of so many refs.
func (b *rulebook) matches(refs int) int {
	n := 0
	for _, r := range b.sets {
		n += r.patterns()
	}
	return n * refs
}

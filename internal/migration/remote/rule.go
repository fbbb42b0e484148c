package remote

import "arbor/internal/team"

// Entry is a part of the body of a protection, by GitHub's names.
type Entry map[string]any

// Actors returns users and teams as parameters of a rule.
func Actors(users, teams []string) Entry {
	slugs := []string{}
	for _, name := range teams {
		slugs = append(slugs, team.Slug(name))
	}
	return Entry{"users": append([]string{}, users...), "teams": slugs, "apps": []string{}}
}

// Protection returns the body of a protection with rules. Nobody bypasses it.
func Protection(rules []Entry) Entry {
	return Entry{"refs": Entry{"include": []string{}, "exclude": []string{}}, "rules": rules, "bypass": []Entry{}}
}

// Rule is a rule with parameters; nil: it has none.
func Rule(kind string, parameters Entry) Entry {
	rule := Entry{"type": kind}
	if parameters != nil {
		rule["parameters"] = parameters
	}
	return rule
}

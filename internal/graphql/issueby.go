package graphql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/search"
	"arbor/internal/web"
)

// trackedBy lists the issues or pull requests that users opened and the caller sees, by a search for all of them:
// qualifiers are those that the arguments mean.
func trackedBy(f *exec.Field, kind string, qualifiers []string) (pages[*issue.View], error) {
	by, desc, err := orderBy(f, map[string]string{"CREATED_AT": "created", "UPDATED_AT": "updated",
		"COMMENTS": "comments"})
	if by == "" {
		by = "created"
	}
	direction := map[bool]string{true: "desc", false: "asc"}[desc]
	labels, _ := f.Args["labels"].([]any)
	if len(labels) > 0 {
		var quoted []string
		for _, name := range namesIn(labels) {
			quoted = append(quoted, quoteWord(name))
		}
		qualifiers = append(qualifiers, "label:"+strings.Join(quoted, ","))
	}
	media := textMedia(f)
	return pages[*issue.View]{kind: kind,
		many: searchedBy(strings.Join(append(qualifiers, "sort:"+by+"-"+direction), " "), media),
		key:  func(v *issue.View) string { return decimal(int64(v.ID)) },
		node: func(v *issue.View) (any, error) { return newIssue(nil, v, media), nil }}, err
}

// searchedBy loads the issues and pull requests that users opened and a search finds, of all users together.
func searchedBy(text, media string) accountsPager[*issue.View] {
	read := func(ctx context.Context, q *query, of []account.ID, page web.Page) (
		map[account.ID]*web.List[*issue.View], error) {
		asked, err := search.Parse(text)
		if err != nil {
			return nil, err
		}
		return q.load.Searches.SearchBy(showing(ctx, media), viewer(ctx), asked, of, page)
	}
	return accountsPager[*issue.View]{fmt.Sprint(media, " ", text), "GET /search/issues", read}
}

// quoteWord quotes a value of a qualifier.
func quoteWord(s string) string { return `"` + strings.ReplaceAll(s, `"`, "") + `"` }

// issuesBy resolves the issues that a user opened.
func issuesBy(_ context.Context, f *exec.Field, _ *object) (pages[*issue.View], error) {
	options, err := issueOptions(f)
	if err == nil {
		filter, _ := f.Args["filterBy"].(map[string]any)
		for _, name := range [...]string{"createdBy", "milestone", "milestoneNumber", "viewerSubscribed", "type"} {
			if filter[name] != nil && filter[name] != false {
				err = refused("Arbor does not choose by " + name + " here.")
			}
		}
	}
	if err != nil {
		return pages[*issue.View]{}, err
	}
	qualifiers := []string{"is:issue"}
	if options.State != 0 {
		qualifiers = append(qualifiers, "is:"+options.State.String())
	}
	switch options.Assignee {
	case "", "*":
	case "none":
		qualifiers = append(qualifiers, "no:assignee")
	default:
		qualifiers = append(qualifiers, "assignee:"+quoteWord(options.Assignee))
	}
	if options.Mentioned != "" {
		qualifiers = append(qualifiers, "mentions:"+quoteWord(options.Mentioned))
	}
	for _, name := range options.Labels {
		qualifiers = append(qualifiers, "label:"+quoteWord(name))
	}
	if !options.Since.IsZero() {
		qualifiers = append(qualifiers, "updated:>="+options.Since.String())
	}
	return trackedBy(f, "IssueConnection", qualifiers)
}

// pullsBy resolves the pull requests that a user opened.
func pullsBy(_ context.Context, f *exec.Field, _ *object) (pages[*issue.View], error) {
	qualifiers := []string{"is:pr"}
	if states, ok := f.Args["states"].([]any); ok && len(states) > 0 {
		has := func(state string) bool { return slices.Contains(states, any(state)) }
		switch open, closed, merged := has("OPEN"), has("CLOSED"), has("MERGED"); {
		case open && closed && merged:
		case open && closed:
			qualifiers = append(qualifiers, "-is:merged")
		case closed && merged:
			qualifiers = append(qualifiers, "is:closed")
		case open && merged:
			return pages[*issue.View]{}, refused("Arbor does not choose pull requests that are open or merged here.")
		case open:
			qualifiers = append(qualifiers, "is:open")
		case merged:
			qualifiers = append(qualifiers, "is:merged")
		default:
			qualifiers = append(qualifiers, "is:closed", "-is:merged")
		}
	}
	for argument, qualifier := range map[string]string{"headRefName": "head:", "baseRefName": "base:"} {
		if name, ok := f.Args[argument].(string); ok {
			qualifiers = append(qualifiers, qualifier+quoteWord(name))
		}
	}
	slices.Sort(qualifiers)
	return trackedBy(f, "PullRequestConnection", qualifiers)
}

package graphql

import (
	"context"
	"slices"

	"arbor/internal/checkrun"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
)

// pullsOfSuites loads the open pull requests whose heads are the commits of suites.
func pullsOfSuites(q *query) loader[git.SHA, []checkrun.HeadedPull] {
	return loader[git.SHA, []checkrun.HeadedPull]{name: "pulls of suites", route: "/pulls",
		key:  func(o *object) git.SHA { return o.value.(*checkrun.SuitePayload).SHA },
		read: q.load.Checks.PullsOf}
}

// matchingPulls resolves the open pull requests whose heads are the commits of suites.
func matchingPulls(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, media, lists := queryOf(ctx), textMedia(f), make([][]*object, len(parents))
	states, some := f.Args["states"].([]any)
	base, based := f.Args["baseRefName"].(string)
	head, headed := f.Args["headRefName"].(string)
	l := pullsOfSuites(q)
	l.load(ctx, q, objectsOf(parents))
	for n, o := range objectsOf(parents) {
		list, _ := l.known(q, o)
		for _, p := range list {
			if (!some || slices.Contains(states, any("OPEN"))) && (!based || p.Base == base) && (!headed || p.Head == head) {
				lists[n] = append(lists[n], pullAt(o.repo, p.Number, media))
			}
		}
	}
	err := q.keepLabelled(ctx, f, lists)
	if err == nil {
		err = q.sortTracked(ctx, f, lists)
	}
	if err != nil {
		return failed(asError(err), len(parents))
	}
	values := make([]any, len(parents))
	for n, o := range objectsOf(parents) {
		if _, err := l.get(ctx, q, o); err != nil {
			values[n] = asError(err)
			continue
		}
		values[n] = orError(connectAll(f, "PullRequestConnection", anyObjects(lists[n])))
	}
	return values
}

// keepLabelled leaves in lists what has one of the argument's labels, if it is given.
func (q *query) keepLabelled(ctx context.Context, f *exec.Field, lists [][]*object) error {
	given, _ := f.Args["labels"].([]any)
	names := namesIn(given)
	if len(names) == 0 {
		return nil
	}
	for _, err := range q.fill(ctx, slices.Concat(lists...), isKnown) {
		return err
	}
	for n := range lists {
		lists[n] = slices.DeleteFunc(lists[n], func(o *object) bool {
			for _, l := range viewOf(o).Labels {
				if slices.Contains(names, l.Name) {
					return false
				}
			}
			return true
		})
	}
	return nil
}

package graphql

import (
	"context"
	"fmt"
	"time"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/repo/list"
)

// contributionPager finds one contribution of each of several users.
type contributionPager interface {
	load(ctx context.Context, users []*object)
	of(ctx context.Context, user *object) (*activity.Contribution, error) // nil: there is none
}

// loadContributions finds a contribution for each collection, of those with the same time together.
func loadContributions(ctx context.Context, collections []*object, pager func(c *collection) contributionPager) {
	for len(collections) > 0 {
		first := collections[0].value.(*collection)
		var users, rest []*object
		for _, o := range collections {
			if c := o.value.(*collection); c.from.Equal(first.from) && c.to.Equal(first.to) {
				users = append(users, c.user)
			} else {
				rest = append(rest, o)
			}
		}
		pager(first).load(ctx, users)
		collections = rest
	}
}

// searched finds contributions by a search for issues or pull requests, the first of which counts.
type searched struct {
	sort activity.Sort
	text string
}

func (s searched) pager() accountsPager[*issue.View] { return searchedBy(s.text, "raw") }

func (s searched) load(ctx context.Context, users []*object) {
	s.pager().loadPage(ctx, queryOf(ctx), users, 1, 1)
}

func (s searched) of(ctx context.Context, user *object) (*activity.Contribution, error) {
	page, err := s.pager().pageOf(ctx, queryOf(ctx), user, 1, 1)
	if err != nil || page == nil || len(page.Rows) == 0 {
		return nil, err
	}
	v := page.Rows[0]
	return &activity.Contribution{By: account.ID(user.id), Sort: s.sort, RepoID: v.Access.ID, Number: v.Number,
		At: v.CreatedAt}, nil
}

// made finds the first repositories of users.
type made struct{}

func (made) pager() accountsPager[*repo.Payload] {
	return repositoriesOf(list.Choice{Affiliation: "owner"}, list.Order{By: "created"})
}

func (m made) load(ctx context.Context, users []*object) {
	m.pager().loadPage(ctx, queryOf(ctx), users, 1, 1)
}

func (m made) of(ctx context.Context, user *object) (*activity.Contribution, error) {
	page, err := m.pager().pageOf(ctx, queryOf(ctx), user, 1, 1)
	if err != nil || page == nil || len(page.Rows) == 0 {
		return nil, err
	}
	return &activity.Contribution{By: account.ID(user.id), Sort: activity.RepositorySort, RepoID: repo.ID(page.Rows[0].ID),
		At: page.Rows[0].CreatedAt}, nil
}

// isWords are the qualifiers of searches for what contributions of a sort made.
var isWords = map[activity.Sort]string{activity.IssueSort: "is:issue", activity.PullSort: "is:pr"}

// firstOf finds the first contribution of a sort that users ever made.
func firstOf(sort activity.Sort) contributionPager {
	if sort == activity.RepositorySort {
		return made{}
	}
	return searched{sort, isWords[sort] + " sort:created-asc"}
}

// popularOf finds the issue or pull request of the time of a collection with the most comments.
func popularOf(sort activity.Sort, c *collection) contributionPager {
	return searched{sort, fmt.Sprintf("%s comments:>0 created:%s..%s sort:comments-desc", isWords[sort],
		c.from.Format(time.RFC3339), c.to.Format(time.RFC3339))}
}

// firstContribution resolves the first contribution of a sort that a user ever made, if it is of the collection's time.
func firstContribution(sort activity.Sort) exec.Resolver {
	return foundContribution(func(*collection) contributionPager { return firstOf(sort) })
}

// popularContribution resolves the contribution of a sort with the most comments.
func popularContribution(sort activity.Sort) exec.Resolver {
	return foundContribution(func(c *collection) contributionPager { return popularOf(sort, c) })
}

func foundContribution(pager func(c *collection) contributionPager) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		values, found := make([]any, len(parents)), make([]*activity.Contribution, len(parents))
		loadContributions(ctx, objectsOf(parents), pager)
		var some []activity.Contribution
		for n, o := range objectsOf(parents) {
			c := o.value.(*collection)
			one, err := pager(c).of(ctx, c.user)
			switch {
			case err != nil:
				values[n] = asError(err)
			case one != nil && one.At >= db.FromTime(c.from) && one.At <= db.FromTime(c.to):
				found[n], some = one, append(some, *one)
			}
		}
		in, err := queryOf(ctx).placesOf(ctx, some)
		if err != nil {
			return failed(asError(err), len(parents))
		}
		for n, one := range found {
			if one != nil && in[int64(one.RepoID)] != nil {
				of := parents[n].(*object).value.(*collection)
				values[n] = newContribution(ctx, of.user, *one, in[int64(one.RepoID)], textMedia(f))
			}
		}
		return values
	}
}

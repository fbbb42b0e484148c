package graphql

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/search"
	"arbor/internal/web"
)

func newTopic(name string) *object { return &object{kind: "Topic", name: name, whole: true} }

// topicPage is the address of the list of the repositories with a topic.
func topicPage(ctx context.Context, name string) string {
	return web.From(ctx).Page("/search?" + url.Values{"q": {"topic:" + name}}.Encode())
}

// repositoryTopics resolves the topics of a repository.
func repositoryTopics(ctx context.Context, f *exec.Field, o *object) (any, error) {
	topics := o.value.(*repo.FullPayload).Topics
	all := make([]any, len(topics))
	for n, name := range topics {
		page := topicPage(ctx, name)
		all[n] = bare{"RepositoryTopic", map[string]any{"id": idOfName("RepositoryTopic", o.name+" "+name), "url": page,
			"resourcePath": strings.TrimPrefix(page, siteOf(ctx)), "topic": newTopic(name)}}
	}
	return connectAll(f, "RepositoryTopicConnection", all)
}

// topicByName is Query.topic: null if no repository that the caller sees has the topic.
func topicByName(ctx context.Context, f *exec.Field) (any, error) {
	name := strings.ToLower(f.Args["name"].(string))
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return nil, nil
	}
	page, err := topicPager("topic:"+name, "", false).pageOf(ctx, queryOf(ctx), &object{}, 1, 1)
	if err != nil || page == nil || page.Total == 0 {
		return nil, err
	}
	return newTopic(name), nil
}

// topicPager loads the repositories that a search finds.
func topicPager(text, sort string, asc bool) accountPager[*repo.Payload] {
	return accountPager[*repo.Payload]{fmt.Sprint("topic ", text, " ", sort, asc), func(
		ctx context.Context, q *query, _ string, page web.Page,
	) (*web.List[*repo.Payload], error) {
		ctx, caller, err := q.on(ctx, "GET /search/repositories")
		if err != nil {
			return nil, err
		}
		found, err := q.load.FindRepositories(ctx, search.Question{Text: text, Sort: sort, Asc: asc, Page: page,
			Caller: caller})
		if err != nil {
			return nil, err
		}
		return &web.List[*repo.Payload]{Rows: repo.NewPayloads(found.Items, web.From(ctx)), Total: found.Total,
			More: found.More(page)}, nil
	}}
}

// topicRepositories resolves the repositories with a topic that the caller sees, those with most stars first.
func topicRepositories(_ context.Context, f *exec.Field, o *object) (pages[*repo.Payload], error) {
	by, desc, err := orderBy(f, map[string]string{"STARGAZERS": "stars", "UPDATED_AT": "updated"})
	if err != nil {
		return pages[*repo.Payload]{}, err
	}
	if by == "" {
		by, desc = "stars", true
	}
	text := "topic:" + o.name
	for _, name := range [...]string{"privacy", "visibility"} {
		if word, ok := f.Args[name].(string); ok {
			text += " is:" + strings.ToLower(word)
		}
	}
	return pages[*repo.Payload]{kind: "RepositoryConnection", many: topicPager(text, by, !desc),
		key: func(p *repo.Payload) string { return decimal(int64(p.ID)) }, node: repositoryNode}, nil
}

func topicFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id":   key(func(o *object) any { return idOfName("Topic", o.name) }),
		"name": key(func(o *object) any { return o.name }), "repositories": connections(topicRepositories),
	}
}

package graphql

import (
	"context"
	"net/http"
)

func createLabel(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	body := map[string]any{"name": m.text("name"), "color": m.text("color")}
	m.copy(body, "description", "description")
	data, err := m.change(ctx, http.MethodPost, in.path("labels"), body)
	if err != nil {
		return nil, err
	}
	return labelPayload(in, data), nil
}

func labelPayload(in *object, data payload) map[string]any {
	return map[string]any{"label": &object{kind: "Label", data: data, whole: true, repo: in}}
}

func updateLabel(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "id", "Label")
	if err != nil {
		return nil, err
	}
	body := map[string]any{}
	for name, as := range map[string]string{"name": "new_name", "color": "color",
		"description": "description"} {
		m.copy(body, name, as)
	}
	data, err := m.change(ctx, http.MethodPatch, o.repo.path("labels", textOf(o.data, "name")), body)
	if err != nil {
		return nil, err
	}
	return labelPayload(o.repo, data), nil
}

func deleteLabel(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "id", "Label")
	if err != nil {
		return nil, err
	}
	_, err = m.change(ctx, http.MethodDelete, o.repo.path("labels", textOf(o.data, "name")), nil)
	return map[string]any{}, err
}

func updateTopics(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	_, err = m.change(ctx, http.MethodPut, o.path("topics"), map[string]any{"names": m.input["topicNames"]})
	return map[string]any{"repository": repositoryAt(o.source.Path), "invalidTopicNames": nil}, err
}

package openapi

import (
	"encoding/json"
	"maps"
	"slices"
)

// Inputs are the query parameters and the body's fields that are described of an
// operation; none of one that is not described itself.
func (c *Checker) Inputs(method, pattern string) (query, fields []string) {
	op := c.find(method, pattern)
	if op == nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(op.query)), slices.Sorted(maps.Keys(op.fields))
}

// Samples are the examples of an operation's request body, as JSON texts.
func (c *Checker) Samples(method, pattern string) (list []string) {
	op := c.find(method, pattern)
	if op == nil {
		return nil
	}
	content := object(op.document.resolve(op.value["requestBody"])["content"])
	for _, example := range op.document.examples(object(content["application/json"])) {
		if text, err := json.Marshal(example); err == nil {
			list = append(list, string(text))
		}
	}
	return list
}

package http_test

import (
	"testing"

	"runner/plan/element/elementtest"
	"runner/samplers/http"
)

func TestElement(t *testing.T) {
	for _, d := range http.All() {
		elementtest.Run(t, d, elementtest.Config{})
	}
}

package pkg_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A target that is not phony and has the name of a folder, as e2e has, is always up to date: `make e2e` would pass without a test.
func TestTargetsArePhony(t *testing.T) {
	content, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	phony := regexp.MustCompile(`(?m)^\.PHONY:(.*)$`).FindStringSubmatch(string(content))
	if phony == nil {
		t.Fatal("the Makefile declares no target as phony")
	}
	targets := regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):[^=]*$`).FindAllStringSubmatch(string(content), -1)
	if len(targets) < 10 {
		t.Fatalf("%d targets", len(targets))
	}
	for _, target := range targets {
		if !slices.Contains(strings.Fields(phony[1]), target[1]) {
			t.Errorf("target %s is not phony", target[1])
		}
	}
}

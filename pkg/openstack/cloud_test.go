package openstack

import (
	"fmt"
	"strings"
	"testing"
)

func TestCloudDoesNotShowItself(t *testing.T) {
	c := Cloud{Name: "telco", Config: []byte("s3cret"), CACert: []byte("s3cret")}
	for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s %x", c, &c, c, []Cloud{c}, c)} {
		if strings.Contains(text, "s3cret") || strings.Contains(text, fmt.Sprintf("%x", "s3cret")) ||
			!strings.Contains(text, "hidden") {
			t.Errorf("it shows itself: %s", text)
		}
	}
}

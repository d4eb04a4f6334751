// Command webhook validates cert-manager's objects and fills in who asked for a certificate. It serves with a
// certificate that it signs by an authority of its own, which it keeps in a Secret.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/cert-manager/cert-manager/cmd/lab/start"
	"github.com/cert-manager/cert-manager/internal/webhook"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
)

func main() {
	config, err := options.NewWebhookConfiguration()
	if err != nil {
		fmt.Fprintln(os.Stderr, "webhook: set defaults:", err)
		os.Exit(1)
	}
	flags := pflag.NewFlagSet("webhook", pflag.ContinueOnError)
	options.AddConfigFlags(flags, config)
	start.Main(flags, &config.Logging, func(ctx context.Context) error {
		server, err := webhook.NewCertManagerWebhookServer(logf.FromContext(ctx), *config)
		if err != nil {
			return fmt.Errorf("make the server: %w", err)
		}
		return server.Run(ctx)
	})
}

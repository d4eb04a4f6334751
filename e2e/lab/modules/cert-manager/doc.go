// Package lab documents the programs next to it: cert-manager as far as the lab needs it, over the packages of
// upstream's root module. Upstream's own programs are modules of their own, which require each other by relative paths
// and cannot be had from a module proxy.
//
// The path of this module lies below upstream's cmd, where upstream's programs lie: only there may it import upstream's
// internal packages.
//
// What these programs lack of upstream's:
//
//   - Issuers other than SelfSigned and CA: ACME, Vault and CyberArk Certificate Manager (Venafi), with their SDKs, would
//     make up most of the build. An Issuer of such a type does not become ready.
//   - The shims that make Certificates for Ingresses and Gateways, and the signing of CertificateSigningRequests.
//   - A configuration file, profiling, feature gates, and flags that the static manifest does not pass, but for the
//     kubeconfig and the addresses. The controller sets its defaults by itself, as upstream's package of them imports
//     every issuer.
//   - acmesolver, which the controller starts for HTTP01 challenges of ACME.
//
// The webhook is upstream's, whole, with all of its flags but --config.
package lab

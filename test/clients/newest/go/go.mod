module batchaid.test/secrets

go 1.22

module batchaid.test/batchaidtest

go 1.21

// error: quotients, means and totals of decimal numbers aren't exact: `real` first
import Foundation
import Larder

func total(_ price: SQLExpression<Decimal>) -> SQLExpression<Double> { price.total() }
